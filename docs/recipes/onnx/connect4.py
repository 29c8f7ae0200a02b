"""ONNX: an included network is exported, and the file plays as an agent. Nothing is trained."""

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

# Files of other programs can play too: the input is the planes, the output a score per action.
game = ludoteca.make_game("connect4")
print(ludoteca.make_agent(f"onnx:{file}", game).signature)
