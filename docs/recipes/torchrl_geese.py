"""TorchRL: four geese learn from each other, one policy for all, each by its own rewards."""

import time

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from ludoteca.agents.torchrl import save_actor
from ludoteca.envs.adapters.torchrl import TorchRLEnv
from ludoteca.evaluate.match import play_match

torch.set_num_threads(1)
torch.manual_seed(0)
steps = 25 * 2048
env = TorchRLEnv("hungry_geese", 64, opponent=None, observation="flat", seed=0)
size = env.observation_spec["agents", "observation"].shape[-1]
network, value = (MLP(size, n, num_cells=[128, 128]) for n in (4, 1))
key = {name: ("agents", name) for name in (
    "observation", "action_mask", "logits", "action", "action_log_prob", "state_value",
    "reward", "done", "terminated", "advantage", "value_target",
)}  # fmt: skip
actor = ProbabilisticActor(
    TensorDictModule(network, [key["observation"]], [key["logits"]]),
    {"logits": key["logits"], "mask": key["action_mask"]}, [key["action"]],
    distribution_class=MaskedCategorical, return_log_prob=True,
    log_prob_key=key["action_log_prob"],
)  # fmt: skip
critic = ValueOperator(value, [key["observation"]], [key["state_value"]])
loss = ClipPPOLoss(actor, critic, normalize_advantage=True)
loss.set_keys(
    action=key["action"], sample_log_prob=key["action_log_prob"], value=key["state_value"],
    advantage=key["advantage"], value_target=key["value_target"],
)  # fmt: skip
gae = GAE(gamma=0.98, lmbda=0.95, value_network=critic)
gae.set_keys(
    **{name: key[name] for name in ("reward", "done", "terminated", "advantage", "value_target")},
    value=key["state_value"],
)
adam = torch.optim.Adam(loss.parameters(), lr=1e-3)
start = time.perf_counter()
for data in Collector(env, actor, frames_per_batch=2048, total_frames=steps):
    geese = gae(data)["agents"]
    rows = geese[geese["mask"]]  # of those that were still in the game
    for some in (part for _ in range(4) for part in torch.randperm(len(rows)).split(1024)):
        values = loss(TensorDict({"agents": rows[some]}, [len(some)]))
        adam.zero_grad()
        sum(one for name, one in values.items() if name.startswith("loss_")).backward()
        nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
        adam.step()
seconds = time.perf_counter() - start
path = save_actor("geese", env.game, actor, flat=True)
geese = play_match(env.game, [f"torchrl:{path}", "random"], 400, seed=1)
print(geese)
