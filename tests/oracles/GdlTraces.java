import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.ggp.base.util.game.Game;
import org.ggp.base.util.gdl.factory.GdlFactory;
import org.ggp.base.util.gdl.grammar.Gdl;
import org.ggp.base.util.gdl.grammar.GdlPool;
import org.ggp.base.util.gdl.grammar.GdlSentence;
import org.ggp.base.util.gdl.grammar.GdlTerm;
import org.ggp.base.util.gdl.transforms.CondensationIsolator;
import org.ggp.base.util.statemachine.MachineState;
import org.ggp.base.util.statemachine.Move;
import org.ggp.base.util.statemachine.Role;
import org.ggp.base.util.statemachine.exceptions.GoalDefinitionException;
import org.ggp.base.util.statemachine.exceptions.MoveDefinitionException;
import org.ggp.base.util.statemachine.implementation.prover.ProverStateMachine;

/**
 * Recorder of random games of rule sheets in GGP-Base's prover.
 *
 * <p>Each line of standard input is a task, with parts between tabs: the file of the sheet, the number
 * of games, the seed, the maximum number of plies, CPU seconds after which no further position is
 * recorded, where an earlier recording has ended: the numbers of moves from which it has drawn,
 * the game and ply of its last position, and the fluents and moves of this position, between
 * semicolons; and `transformed` or `plain`. A task that starts with a new game has no fluents. The
 * rules of a transformed sheet are those into which GGP-Base's `CondensationIsolator` splits them:
 * parts of a rule that share few variables with the rest become rules of their own, of which the
 * prover enumerates fewer combinations.
 *
 * <p>The answer has one JSON object a line for each position, the last one of a game included:
 * `game`, `ply`, `terminal`, `state` (the true fluents), and either `legal` and `moves`, or `goals`,
 * each a list by role in the order of the sheet. Terms are written like `(cell a 1 white)`; lists of
 * them are sorted. A role without exactly one goal has the goal `null`. A position in which a role
 * has no legal move has no `moves`, and ends the game. The last line of the answer is `done`, with
 * the MiB of memory in use, or `error` and a message. The process ends if a single position takes
 * more than three times the CPU seconds of the task and a minute.
 */
public final class GdlTraces {
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final PrintStream OUT = System.out;
    /** CPU time of the process, garbage collection included, at which it ends, in nanoseconds. */
    private static volatile long latest = Long.MAX_VALUE;

    private final ProverStateMachine rules;
    private final Random random;

    private GdlTraces(ProverStateMachine rules, long seed) {
        this.rules = rules;
        this.random = new Random(seed);
    }

    public static void main(String[] arguments) throws IOException {
        System.setOut(System.err); // GGP-Base prints to it
        watch();
        BufferedReader tasks =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
            String answer;
            try {
                run(line.split("\t", -1));
                Runtime memory = Runtime.getRuntime();
                answer = "done " + ((memory.totalMemory() - memory.freeMemory()) >> 20);
            } catch (Exception | StackOverflowError | OutOfMemoryError error) {
                answer = "error " + String.valueOf(error).replace("\n", " ");
            }
            latest = Long.MAX_VALUE;
            OUT.println(answer);
            OUT.flush();
        }
    }

    /** Ends the process when it has taken too much CPU time. */
    private static void watch() {
        Thread watch = new Thread(() -> {
            while (SYSTEM.getProcessCpuTime() < latest) {
                try {
                    Thread.sleep(500);
                } catch (InterruptedException error) {
                    return;
                }
            }
            Runtime.getRuntime().halt(3);
        });
        watch.setDaemon(true);
        watch.start();
    }

    private static void run(String[] task) throws Exception {
        double seconds = Double.parseDouble(task[4]);
        long start = SYSTEM.getProcessCpuTime();
        long end = start + (long) (1e9 * seconds);
        latest = start + (long) (1e9 * (3 * seconds + 60));
        ProverStateMachine rules = new ProverStateMachine();
        List<Gdl> description = read(Path.of(task[0])).getRules();
        boolean transformed = task[10].equals("transformed");
        rules.initialize(transformed ? CondensationIsolator.run(description) : description);
        GdlTraces traces = new GdlTraces(rules, Long.parseLong(task[2]));
        if (!task[5].isEmpty()) {
            for (String moves : task[5].split(" ")) {
                traces.random.nextInt(Integer.parseInt(moves));
            }
        }
        int maxPlies = Integer.parseInt(task[3]);
        int ply = Integer.parseInt(task[7]);
        MachineState state = task[8].isEmpty() ? null : traces.next(task[8], task[9]);
        for (int game = Integer.parseInt(task[6]); game < Integer.parseInt(task[1]); game++) {
            if (state == null) {
                state = rules.getInitialState();
                ply = 0;
            } else {
                ply++;
            }
            for (; state != null && SYSTEM.getProcessCpuTime() < end; ply++) {
                state = traces.record(state, game, ply, ply < maxPlies);
            }
            if (state != null) {
                return;
            }
        }
    }

    private static Game read(Path sheet) throws IOException {
        String text = new String(Files.readAllBytes(sheet), StandardCharsets.UTF_8);
        return Game.createEphemeralGame(Game.preprocessRulesheet(text));
    }

    /** Returns the state after a joint move in a state of an earlier recording. */
    private MachineState next(String fluents, String moves) throws Exception {
        Set<GdlSentence> sentences = new HashSet<>();
        for (String fluent : fluents.split(";")) {
            GdlTerm term = GdlFactory.createTerm(fluent);
            sentences.add(GdlPool.getRelation(GdlPool.TRUE, new GdlTerm[] {term}));
        }
        List<Move> played = new ArrayList<>();
        for (String move : moves.split(";")) {
            played.add(new Move(GdlFactory.createTerm(move)));
        }
        return rules.getNextState(new MachineState(sentences), played);
    }

    /** Prints a position; returns the one after a random joint move, or null at the end. */
    private MachineState record(MachineState state, int game, int ply, boolean proceeds)
            throws Exception {
        boolean terminal = rules.isTerminal(state);
        List<String> fluents = new ArrayList<>();
        for (GdlSentence sentence : state.getContents()) {
            fluents.add(text(sentence.get(0)));
        }
        StringBuilder line = new StringBuilder();
        line.append("{\"game\": ").append(game).append(", \"ply\": ").append(ply);
        line.append(", \"terminal\": ").append(terminal);
        line.append(", \"state\": ").append(list(fluents));
        MachineState next = null;
        if (terminal) {
            List<String> goals = new ArrayList<>();
            for (Role role : rules.getRoles()) {
                goals.add(goal(state, role));
            }
            line.append(", \"goals\": [").append(String.join(", ", goals)).append("]");
        } else {
            List<String> legal = new ArrayList<>();
            List<List<Move>> choices = new ArrayList<>();
            for (Role role : rules.getRoles()) {
                List<Move> moves = legalMoves(state, role);
                moves.sort(Comparator.comparing(GdlTraces::text));
                legal.add(list(moves));
                choices.add(moves);
            }
            line.append(", \"legal\": [").append(String.join(", ", legal)).append("]");
            List<String> names = new ArrayList<>();
            List<Move> played = new ArrayList<>();
            if (choices.stream().noneMatch(List::isEmpty)) {
                for (List<Move> moves : choices) {
                    Move move = moves.get(random.nextInt(moves.size()));
                    played.add(move);
                    names.add(quoted(text(move)));
                }
                next = proceeds ? rules.getNextState(state, played) : null;
            }
            line.append(", \"moves\": [").append(String.join(", ", names)).append("]");
        }
        OUT.println(line.append("}"));
        return next;
    }

    private String goal(MachineState state, Role role) {
        try {
            return String.valueOf(rules.getGoal(state, role));
        } catch (GoalDefinitionException error) {
            return "null";
        }
    }

    private List<Move> legalMoves(MachineState state, Role role) {
        try {
            return new ArrayList<>(rules.getLegalMoves(state, role));
        } catch (MoveDefinitionException error) {
            return new ArrayList<>();
        }
    }

    private static String text(Object term) {
        return term.toString().trim().replace("( ", "(").replace(" )", ")");
    }

    private static String list(List<?> terms) {
        List<String> strings = new ArrayList<>();
        for (Object term : terms) {
            strings.add(quoted(text(term)));
        }
        Collections.sort(strings);
        return "[" + String.join(", ", strings) + "]";
    }

    private static String quoted(String term) {
        return "\"" + term.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
