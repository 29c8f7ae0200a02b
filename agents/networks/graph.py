"""Computation graphs of PyTorch networks, as JSON and weights that run without the network's code.

`torch.export` records the tensor operations of a network of any library. They are written as JSON,
and run by name, in order. Only the operations listed here are allowed, all of them functions of
tensors: a graph from an untrusted file can neither import modules nor access files.
"""

import copy
import json
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Document = dict[str, Any]
# Number of observations for `record_graph`: at least 2, as `torch.export` takes the
# batch sizes 0 and 1 for constants.
NUM_EXAMPLES = 3
# Limits of time and memory for graphs from untrusted files.
MAX_NODES = 20_000  # maximum number of operations of a graph
MAX_NUMBERS = 1 << 24  # maximum number of elements of all results for one observation
TOLERANCE = 1e-4  # relative and absolute, between the outputs of the network and its graph
# Functions of PyTorch's ATen library; none changes its arguments or samples random numbers.
OPERATIONS = (
    "abs add addmm all amax amin any arange argmax argmin avg_pool2d adaptive_avg_pool2d "
    "_adaptive_avg_pool2d adaptive_max_pool2d alias atan baddbmm batch_norm bitwise_and "
    "bitwise_not bitwise_or bmm cat ceil celu chunk clamp clamp_max clamp_min clone "
    "constant_pad_nd contiguous conv1d conv2d convolution cos cumsum detach div einsum elu "
    "embedding eq erf exp expand expm1 flatten flip floor full full_like gather ge gelu glu "
    "group_norm gt hardsigmoid hardswish hardtanh index index_select layer_norm le leaky_relu "
    "lift_fresh_copy linalg_vector_norm linear log log1p log2 log_sigmoid_forward _log_softmax "
    "log_softmax logical_and logical_not logical_or logsumexp lt masked_fill matmul max "
    "max_pool2d max_pool2d_with_indices maximum mean min minimum mish mm movedim mul narrow "
    "native_group_norm native_layer_norm _native_batch_norm_legit_no_training ne neg new_full "
    "new_ones new_zeros nan_to_num norm ones ones_like pad permute pow prelu prod reciprocal "
    "relu relu6 remainder repeat reshape rms_norm _fused_rms_norm roll round rsqrt "
    "scalar_tensor scaled_dot_product_attention scatter select selu sigmoid sign silu sin slice "
    "slice_scatter _softmax softmax softplus split split_with_sizes sqrt square squeeze stack "
    "std sub sum sym_numel sym_size t tanh tile to _to_copy transpose tril triu unbind "
    "unflatten _unsafe_view unsqueeze upsample_nearest2d var view where zeros zeros_like"
)
ATEN_OPERATIONS = frozenset(OPERATIONS.split())
# Operations that create tensors: their argument `device` is set to the device of the graph.
CREATION_OPERATIONS = ("arange", "full", "ones", "scalar_tensor", "zeros")
# Python's operators, for arithmetic with batch sizes.
PYTHON_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "floordiv": operator.floordiv,
    "getitem": operator.getitem,
    "mul": operator.mul,
    "neg": operator.neg,
    "sub": operator.sub,
}
# The memory layout of results depends on the device, and views may not support it.
REPLACED_OPERATIONS = {"view": "reshape", "_unsafe_view": "reshape"}
# Prefixes of the names of assertions. They return nothing, and are not recorded.
ASSERTION_PREFIXES = ("_assert", "sym_constrain")


class Graph:
    """Recorded network, callable with observations, that returns the network's first output.

    Attributes:
        document: the graph as JSON content, see `record_graph`.
        weights: the tensors that it refers to, by name.
        device: device that runs the graph and has its weights.
    """

    def __init__(
        self, document: Document, weights: dict[str, Tensor], device: str | torch.device = "cpu"
    ):
        """Prepare a graph to run.

        Args:
            document: the graph, see `record_graph`.
            weights: tensors by name.
            device: device to run it on.

        Raises:
            ValueError: if the document is damaged, or has an operation that is not allowed.
        """
        self.document, self.device = document, torch.device(device)
        self.weights = {name: weight.to(self.device) for name, weight in weights.items()}
        try:
            self._input, self._output = str(document["input"]), str(document["output"])
            nodes = document["nodes"]
            if len(nodes) > MAX_NODES:
                raise ValueError(f"at most {MAX_NODES} operations are allowed, got {len(nodes)}")
            self._nodes = [
                (str(node["name"]), _operation(node["op"]), node["args"], _keyword_arguments(node))
                for node in nodes
            ]
            if not all(isinstance(args, list) for _, _, args, _ in self._nodes):
                raise TypeError("the arguments of an operation must be a list")
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected the graph of a network, got {error!r:.200}") from None

    def __call__(self, observations: Tensor) -> Tensor:
        """Run the network.

        Args:
            observations: K observations of the dtype of the recorded ones. Shape `[K, *shape]`.

        Returns:
            The network's first output. Shape `[K, ...]`.
        """
        return self._run(observations, lambda result: None)

    def __getstate__(self) -> dict[str, Any]:
        return {"document": self.document, "weights": self.weights, "device": self.device}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Graph.__init__(self, **state)

    def to(self, device: str | torch.device) -> "Graph":
        """Return the same graph on another device."""
        return Graph(self.document, self.weights, device)

    def check(self, shape: tuple[int, ...], dtype: torch.dtype) -> tuple[int, ...]:
        """Check that the graph accepts an observation, and return the shape of the output.

        The graph runs on PyTorch's device "meta", which computes shapes without numbers.

        Args:
            shape: shape of one observation.
            dtype: dtype of the observation.

        Returns:
            Shape of the output for one observation, without the batch dimension.

        Raises:
            ValueError: if the graph does not accept the observation or needs too much memory.
        """
        numbers = 0

        def count(result: Any) -> None:
            """Add the size of an operation's result, and check the sum."""
            nonlocal numbers
            for output in result if isinstance(result, tuple | list) else (result,):
                numbers += output.numel() if isinstance(output, Tensor) else 0
            if numbers > MAX_NUMBERS:
                raise ValueError(f"it computes more than {MAX_NUMBERS:,} numbers per observation")

        try:
            result = self.to("meta")._run(
                torch.empty((1, *shape), dtype=dtype, device="meta"), count
            )
            if not isinstance(result, Tensor):
                raise TypeError(f"its result is a {type(result).__name__}")
        except Exception as error:  # with wrong arguments, operations raise errors of any type
            raise ValueError(
                f"the graph does not run with an observation of shape {shape}: {error!s:.300}"
            ) from None
        return tuple(result.shape[1:])

    def _run(self, observations: Tensor, on_result: Callable[[Any], None]) -> Tensor:
        """Run the network; call `on_result` with the result of each operation."""
        values: dict[str, Any] = {self._input: observations}

        def resolve(argument: Any) -> Any:
            """Return the value of an argument in a document, see `_to_document`."""
            if isinstance(argument, list):
                return [resolve(item) for item in argument]
            if not isinstance(argument, dict):
                return argument
            ((kind, value),) = argument.items()
            if kind == "node":
                return values[value]
            if kind == "weight":
                return self.weights[value]
            if kind == "device":
                return self.device
            if kind == "float":
                return float(value)
            dtype = getattr(torch, value) if kind == "dtype" else None
            if not isinstance(dtype, torch.dtype):
                raise ValueError(f"{argument!r:.80} is not an argument of an operation")
            return dtype

        for name, function, args, kwargs in self._nodes:
            keywords = {key: resolve(value) for key, value in kwargs.items()}
            values[name] = function(*[resolve(arg) for arg in args], **keywords)
            on_result(values[name])
        result: Tensor = values[self._output]
        return result


def record_graph(
    network: Callable[[Tensor], Any], observations: Tensor
) -> tuple[Document, dict[str, Tensor]]:
    """Record a network as a graph.

    Args:
        network: a module, or a function of observations. If it returns several results, the first
            is recorded. A copy is recorded, on the CPU and in evaluation mode.
        observations: example inputs, at least two. Shape `[K, *shape]`.

    Returns:
        The graph as a JSON document (see `_to_document`), and the weights that it refers to.

    Raises:
        ValueError: if its operations depend on the batch size or on values of observations, or are
            not supported, or the graph computes other outputs than the network.
        Exception: any exception of the network itself.
    """
    module = copy.deepcopy(network) if isinstance(network, nn.Module) else _FunctionModule(network)
    module = module.to("cpu").eval()
    batch = torch.export.Dim("batch")
    with torch.no_grad():
        module(observations)  # raises the network's own error for wrong observations
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of PyTorch about its own code
            # With the empty table, `run_decompositions` replaces operations that change their
            # arguments, and keeps others such as `linear` and `conv2d` whole.
            program = torch.export.export(
                module, (observations,), dynamic_shapes=({0: batch},), strict=False
            ).run_decompositions({})
    except Exception as error:  # any error of the network's code or of PyTorch
        raise ValueError(
            f"this network cannot be recorded as a graph: {str(error).strip():.800}"
        ) from error
    document, weights = _to_document(program)
    _compare(module, Graph(json.loads(json.dumps(document)), weights), observations)
    return document, weights


class _FunctionModule(nn.Module):
    """Module whose forward pass calls a function."""

    def __init__(self, function: Callable[[Tensor], Any]):
        super().__init__()
        self._function = function

    def forward(self, observations: Tensor) -> Any:
        return self._function(observations)


def _to_document(program: Any) -> tuple[Document, dict[str, Tensor]]:
    """Return an exported program as a document, and its weights by name.

    The document has the names of the `"input"` and the `"output"`, and `"nodes"`: the operations in
    order, each with `"name"`, `"op"`, `"args"` and `"kwargs"`. Arguments are JSON values, or
    objects with one key: `"node"` (name of an earlier node or the input), `"weight"` (name of a
    weight), `"dtype"`, `"float"` (infinite or NaN) or `"device"` (that of the graph).
    """
    signature, graph = program.graph_signature, program.graph_module.graph
    tensors = {**program.constants, **program.state_dict}
    # Weights and constants are inputs of the exported graph, too. Their names in `tensors`, by the
    # name of the input:
    tensor_names = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    graph.eliminate_dead_code()
    nodes: list[Document] = []
    (input_name,) = signature.user_inputs
    weights: dict[str, Tensor] = {}
    output: Any = None

    def write(argument: Any) -> Any:
        """Return an argument as JSON content; if it is a weight, add it to `weights`."""
        if isinstance(argument, torch.fx.Node):
            name = tensor_names.get(argument.name)
            if name is None:
                return {"node": argument.name}
            weights[name] = tensors[name].detach().clone().contiguous()
            return {"weight": name}
        if isinstance(argument, tuple | list):
            return [write(item) for item in argument]
        if isinstance(argument, torch.dtype):
            return {"dtype": str(argument).removeprefix("torch.")}
        if isinstance(argument, torch.device):
            return {"device": 0}  # the number is not used
        if isinstance(argument, float) and not math.isfinite(argument):
            return {"float": str(argument)}
        if argument is None or isinstance(argument, bool | int | float | str):
            return argument
        raise ValueError(
            "this network cannot be recorded as a graph: an operation has the argument "
            f"{argument!r:.80}"
        )

    for node in graph.nodes:
        if node.op == "output":
            output = node.args[0][0]
        elif node.op == "call_function":
            op = _op_name(node.target)
            if op.split(".")[1].startswith(ASSERTION_PREFIXES):
                continue
            _operation(op)  # raises if the operation is not supported
            # The layout and pinning of memory depend on the device that runs the graph.
            kwargs = {
                key: write(value)
                for key, value in node.kwargs.items()
                if key not in ("layout", "memory_format", "pin_memory")
            }
            nodes.append({"name": node.name, "op": op, "args": write(node.args), "kwargs": kwargs})
    if not isinstance(output, torch.fx.Node) or output.name in tensor_names:
        raise ValueError(
            "this network cannot be recorded as a graph: its result must be computed from the "
            "observations"
        )
    return {"input": input_name, "output": output.name, "nodes": nodes}, weights


def _op_name(target: Any) -> str:
    """Return the name of an operation in a document, such as `"aten.linear.default"`."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    return f"python.{getattr(target, '__name__', target)}"


def _operation(op: Any) -> Callable[..., Any]:
    """Return the function of an operation, given its name in a document (see `_op_name`).

    Raises:
        ValueError: if the operation is not supported.
    """
    library, _, function_name = str(op).partition(".")
    name, _, overload = function_name.partition(".")
    if library == "python" and name in PYTHON_OPERATIONS:
        return PYTHON_OPERATIONS[name]
    if library == "aten" and name in ATEN_OPERATIONS:
        if overload == "default":
            name = REPLACED_OPERATIONS.get(name, name)
        packet = getattr(torch.ops.aten, name, None)  # all overloads of the name
        # Overloads `out` write to an argument.
        if packet is not None and overload in packet.overloads() and "out" not in overload:
            function: Callable[..., Any] = getattr(packet, overload)
            return function
    raise ValueError(f"the graph of a network cannot have the operation {op!r:.80}")


def _keyword_arguments(node: Document) -> Document:
    """Return the keyword arguments of an operation, with a device if it creates a tensor."""
    name = str(node["op"]).split(".")[1]
    device = {"device": {"device": 0}} if name in CREATION_OPERATIONS else {}
    return {**node["kwargs"], **device}


def _compare(module: nn.Module, graph: Graph, observations: Tensor) -> None:
    """Validate that a graph and its network give equal outputs, also for other batch sizes.

    Raises:
        ValueError: if they do not.
    """
    for batch in (observations, observations[:1], torch.cat([observations, observations])):
        with torch.no_grad():
            expected, actual = module(batch), graph(batch)
        expected = expected[0] if isinstance(expected, tuple | list) else expected
        if not torch.allclose(expected, actual, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            raise ValueError(
                "this network cannot be recorded as a graph: for the same observations, the graph "
                f"computed {actual[0].tolist()!s:.200}, the network {expected[0].tolist()!s:.200}"
            )
