"""TorchRL: Hungry Geese by self-play, one policy for all geese, each with its own rewards."""

import time

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from ludoteca.agents.external.torchrl import save_actor
from ludoteca.envs.adapters.torchrl import TorchRLEnv
from ludoteca.evaluate.match import play_match

torch.set_num_threads(1)
torch.manual_seed(0)
steps = 20 * 2048
env = TorchRLEnv("hungry_geese", 64, opponent=None, observation="flat", seed=0)
size = env.observation_spec["agents", "observation"].shape[-1]
network, value = (MLP(size, n, num_cells=[128, 128]) for n in (4, 1))


def make_actor(*group):  # group: ("agents",) for the keys of all geese, () for those of one
    observation, logits, mask = ((*group, key) for key in ("observation", "logits", "action_mask"))
    keys = {"in_keys": {"logits": logits, "mask": mask}, "out_keys": [(*group, "action")]}
    log_prob = {"return_log_prob": True, "log_prob_key": (*group, "action_log_prob")}
    module = TensorDictModule(network, [observation], [logits])
    return ProbabilisticActor(module, distribution_class=MaskedCategorical, **keys, **log_prob)


loss = ClipPPOLoss(make_actor(), ValueOperator(value), normalize_advantage=True)
gae = GAE(gamma=0.98, lmbda=0.95, value_network=loss.critic_network)
adam = torch.optim.Adam(loss.parameters(), lr=1e-3)
start = time.perf_counter()
for data in Collector(env, make_actor("agents"), frames_per_batch=2048, total_frames=steps):
    played = data["agents"].set("next", data["next", "agents"])  # [games, steps, geese]
    rows = gae(played, time_dim=1)[played["mask"]]  # without eliminated geese
    for batch in (part for _ in range(4) for part in torch.randperm(len(rows)).split(1024)):
        adam.zero_grad()
        sum(x for key, x in loss(rows[batch]).items() if key.startswith("loss_")).backward()
        adam.step()
seconds = time.perf_counter() - start
path = save_actor("geese", env.game, make_actor(), flat=True)
geese = play_match(env.game, [f"torchrl:{path}", "random"], 400, seed=1)
print(geese)
