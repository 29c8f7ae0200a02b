import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.ggp.base.util.gdl.grammar.Gdl;
import org.ggp.base.util.gdl.grammar.GdlConstant;
import org.ggp.base.util.gdl.grammar.GdlSentence;
import org.ggp.base.util.propnet.architecture.Component;
import org.ggp.base.util.propnet.architecture.PropNet;
import org.ggp.base.util.propnet.architecture.components.And;
import org.ggp.base.util.propnet.architecture.components.Constant;
import org.ggp.base.util.propnet.architecture.components.Not;
import org.ggp.base.util.propnet.architecture.components.Proposition;
import org.ggp.base.util.propnet.architecture.components.Transition;
import org.ggp.base.util.propnet.factory.OptimizingPropNetFactory;
import org.ggp.base.util.statemachine.MachineState;
import org.ggp.base.util.statemachine.Move;
import org.ggp.base.util.statemachine.Role;
import org.ggp.base.util.statemachine.StateMachine;
import org.ggp.base.util.statemachine.exceptions.GoalDefinitionException;
import org.ggp.base.util.statemachine.exceptions.MoveDefinitionException;
import org.ggp.base.util.statemachine.implementation.prover.query.ProverQueryBuilder;

/**
 * State machine of the propositional network of GGP-Base.
 *
 * <p>GGP-Base makes the network of a sheet and leaves its evaluation to players. Components are
 * evaluated in an order in which inputs come first; those of a cycle from false, until none changes.
 */
public final class NetworkMachine extends StateMachine {
    private static final int AND = 0, OR = 1, NOT = 2, FIXED = 3;

    private PropNet net;
    private List<Role> roles;
    private Map<Component, Integer> numbers;
    private int[] kinds;
    private int[][] inputs;
    private int[][] cycles; // strongly connected sets of components, inputs first
    private boolean[] loops; // whether the set is a cycle
    private boolean[] values;
    private MachineState evaluated; // the state of `values`
    private List<Move> evaluatedMoves;
    private MachineState initial;

    @Override
    public void initialize(List<Gdl> description) {
        try {
            net = OptimizingPropNetFactory.create(description);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
        roles = net.getRoles();
        numbers = new HashMap<>();
        List<Component> components = new ArrayList<>(net.getComponents());
        for (Component component : components) {
            numbers.put(component, numbers.size());
        }
        kinds = new int[components.size()];
        inputs = new int[components.size()][];
        values = new boolean[components.size()];
        for (int i = 0; i < kinds.length; i++) {
            Component component = components.get(i);
            kinds[i] = kind(component);
            inputs[i] = component.getInputs().stream().mapToInt(numbers::get).toArray();
            if (component instanceof Constant) {
                values[i] = component.getValue();
            }
        }
        sort();
        initial = computeInitialState();
    }

    /** Propositions and transitions repeat their input, like an OR; base propositions are fixed. */
    private static int kind(Component component) {
        if (component instanceof Proposition) {
            boolean isFixed = component.getInputs().size() != 1
                    || component.getSingleInput() instanceof Transition;
            return isFixed ? FIXED : OR;
        }
        if (component instanceof Constant) {
            return FIXED;
        }
        return component instanceof And ? AND : component instanceof Not ? NOT : OR;
    }

    /** Finds the strongly connected sets of components (Tarjan's algorithm). */
    private void sort() {
        int[] index = new int[kinds.length], low = new int[kinds.length], next = new int[kinds.length];
        boolean[] open = new boolean[kinds.length];
        ArrayDeque<Integer> path = new ArrayDeque<>(), stack = new ArrayDeque<>();
        List<int[]> found = new ArrayList<>();
        List<Boolean> foundLoops = new ArrayList<>();
        int count = 0;
        for (int root = 0; root < kinds.length; root++) {
            if (index[root] == 0) {
                path.push(root);
            }
            while (!path.isEmpty()) {
                int node = path.peek();
                if (index[node] == 0) {
                    index[node] = low[node] = ++count;
                    open[node] = true;
                    stack.push(node);
                }
                int[] before = kinds[node] == FIXED ? new int[0] : inputs[node];
                int deeper = -1;
                while (next[node] < before.length && deeper < 0) {
                    int input = before[next[node]];
                    if (index[input] == 0) {
                        deeper = input;
                    } else {
                        if (open[input]) {
                            low[node] = Math.min(low[node], low[input]);
                        }
                        next[node]++;
                    }
                }
                if (deeper >= 0) {
                    path.push(deeper);
                    continue;
                }
                path.pop();
                if (low[node] == index[node]) {
                    List<Integer> members = new ArrayList<>();
                    int member;
                    do {
                        member = stack.pop();
                        open[member] = false;
                        members.add(member);
                    } while (member != node);
                    boolean isLoop = members.size() > 1;
                    for (int input : before) {
                        isLoop |= input == node;
                    }
                    found.add(members.stream().mapToInt(i -> i).toArray());
                    foundLoops.add(isLoop);
                }
            }
        }
        cycles = found.toArray(new int[0][]);
        loops = new boolean[cycles.length];
        for (int i = 0; i < cycles.length; i++) {
            loops[i] = foundLoops.get(i);
        }
    }

    private MachineState computeInitialState() {
        for (int i = 0; i < kinds.length; i++) {
            values[i] &= kinds[i] == FIXED;
        }
        if (net.getInitProposition() != null) {
            values[numbers.get(net.getInitProposition())] = true;
        }
        evaluate();
        MachineState state = transitions();
        if (net.getInitProposition() != null) {
            values[numbers.get(net.getInitProposition())] = false;
        }
        return state;
    }

    private void evaluate() {
        for (int i = 0; i < cycles.length; i++) {
            if (!loops[i]) {
                values[cycles[i][0]] = value(cycles[i][0]);
                continue;
            }
            for (int member : cycles[i]) {
                values[member] = false;
            }
            boolean changed = true;
            while (changed) {
                changed = false;
                for (int member : cycles[i]) {
                    boolean value = value(member);
                    changed |= value != values[member];
                    values[member] = value;
                }
            }
        }
    }

    private boolean value(int i) {
        switch (kinds[i]) {
            case FIXED:
                return values[i];
            case NOT:
                return !values[inputs[i][0]];
            case AND:
                for (int input : inputs[i]) {
                    if (!values[input]) {
                        return false;
                    }
                }
                return true;
            default:
                for (int input : inputs[i]) {
                    if (values[input]) {
                        return true;
                    }
                }
                return false;
        }
    }

    private MachineState transitions() {
        Set<GdlSentence> contents = new HashSet<>();
        for (Map.Entry<GdlSentence, Proposition> base : net.getBasePropositions().entrySet()) {
            if (values[numbers.get(base.getValue().getSingleInput())]) {
                contents.add(base.getKey());
            }
        }
        return new MachineState(contents);
    }

    /** Evaluates the network for a state and, unless it is null, a joint move. */
    private void evaluate(MachineState state, List<Move> moves) {
        if (state.equals(evaluated) && (moves == null || moves.equals(evaluatedMoves))) {
            return;
        }
        for (Map.Entry<GdlSentence, Proposition> base : net.getBasePropositions().entrySet()) {
            values[numbers.get(base.getValue())] = state.getContents().contains(base.getKey());
        }
        Set<GdlSentence> does = new HashSet<>();
        if (moves != null) {
            for (int i = 0; i < moves.size(); i++) {
                does.add(ProverQueryBuilder.toDoes(roles.get(i), moves.get(i)));
            }
        }
        for (Map.Entry<GdlSentence, Proposition> input : net.getInputPropositions().entrySet()) {
            values[numbers.get(input.getValue())] = does.contains(input.getKey());
        }
        evaluate();
        evaluated = state;
        evaluatedMoves = moves;
    }

    private boolean isTrue(Component component) {
        return values[numbers.get(component)];
    }

    @Override
    public int getGoal(MachineState state, Role role) throws GoalDefinitionException {
        evaluate(state, null);
        List<Integer> goals = new ArrayList<>();
        for (Proposition goal : net.getGoalPropositions().getOrDefault(role, Set.of())) {
            if (isTrue(goal)) {
                goals.add(Integer.parseInt(((GdlConstant) goal.getName().get(1)).getValue()));
            }
        }
        if (goals.size() != 1) {
            throw new GoalDefinitionException(state, role);
        }
        return goals.get(0);
    }

    @Override
    public boolean isTerminal(MachineState state) {
        evaluate(state, null);
        return isTrue(net.getTerminalProposition());
    }

    @Override
    public List<Move> getLegalMoves(MachineState state, Role role) throws MoveDefinitionException {
        evaluate(state, null);
        List<Move> moves = new ArrayList<>();
        for (Proposition legal : net.getLegalPropositions().getOrDefault(role, Set.of())) {
            if (isTrue(legal)) {
                moves.add(new Move(legal.getName().get(1)));
            }
        }
        if (moves.isEmpty()) {
            throw new MoveDefinitionException(state, role);
        }
        return moves;
    }

    @Override
    public MachineState getNextState(MachineState state, List<Move> moves) {
        evaluate(state, moves);
        return transitions();
    }

    @Override
    public MachineState getInitialState() {
        return initial;
    }

    @Override
    public List<Role> getRoles() {
        return roles;
    }
}
