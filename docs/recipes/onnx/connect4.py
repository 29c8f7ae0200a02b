"""ONNX: a shipped network as a file for any program, and back as an agent. Nothing is trained."""

import onnxruntime

import ludoteca
from ludoteca.agents.networks.onnx_export import export_onnx
from ludoteca.evaluate.match import play_match

file = export_onnx("az:connect4", "connect4.onnx")  # or: ludoteca export onnx --agent ... --out ...

session = onnxruntime.InferenceSession(file)
for tensor in [*session.get_inputs(), *session.get_outputs()]:
    print(tensor.name, tensor.type, tensor.shape)

against_random = play_match("connect4", [f"onnx:{file}", "random"], 400)
print(against_random)

# Another program's network plays likewise, without our metadata: planes in, a score per action out.
game = ludoteca.make_game("connect4")
print(ludoteca.make_agent(f"onnx:{file}", game).signature)
