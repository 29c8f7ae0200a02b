import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.ggp.base.util.game.Game;
import org.ggp.base.util.gdl.grammar.GdlSentence;
import org.ggp.base.util.statemachine.MachineState;
import org.ggp.base.util.statemachine.Move;
import org.ggp.base.util.statemachine.Role;
import org.ggp.base.util.statemachine.implementation.prover.ProverStateMachine;

/**
 * Recorder of random games of a rule sheet in GGP-Base's prover.
 *
 * <p>Writes one JSON object a line for each position, the last one of a game included: `game`, `ply`,
 * `terminal`, `state` (the true fluents), and either `legal` and `moves`, or `goals`, each a list by
 * role in the order of the sheet. Terms are written like `(cell a 1 white)`; lists of them are
 * sorted.
 */
public final class GdlTraces {
    private static final ProverStateMachine RULES = new ProverStateMachine();

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 5) {
            System.err.println("usage: GdlTraces SHEET GAMES SEED MAX_PLIES SECONDS");
            System.exit(2);
        }
        int games = Integer.parseInt(arguments[1]);
        Random random = new Random(Long.parseLong(arguments[2]));
        int maxPlies = Integer.parseInt(arguments[3]);
        long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(arguments[4]));
        RULES.initialize(read(Path.of(arguments[0])).getRules());
        for (int game = 0; game < games; game++) {
            MachineState state = RULES.getInitialState();
            for (int ply = 0; state != null && System.nanoTime() < end; ply++) {
                state = record(state, game, ply, ply < maxPlies, random);
            }
        }
    }

    private static Game read(Path sheet) throws IOException {
        String text = new String(Files.readAllBytes(sheet), StandardCharsets.UTF_8);
        return Game.createEphemeralGame(Game.preprocessRulesheet(text));
    }

    /** Prints a position; returns the one after a random joint move, or null at the end. */
    private static MachineState record(
            MachineState state, int game, int ply, boolean proceeds, Random random)
            throws Exception {
        boolean terminal = RULES.isTerminal(state);
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
            for (Role role : RULES.getRoles()) {
                goals.add(String.valueOf(RULES.getGoal(state, role)));
            }
            line.append(", \"goals\": [").append(String.join(", ", goals)).append("]");
        } else {
            List<String> legal = new ArrayList<>();
            List<String> names = new ArrayList<>();
            List<Move> moves = new ArrayList<>();
            for (Role role : RULES.getRoles()) {
                List<Move> all = new ArrayList<>(RULES.getLegalMoves(state, role));
                all.sort(Comparator.comparing(GdlTraces::text));
                legal.add(list(all));
                moves.add(all.get(random.nextInt(all.size())));
                names.add(quoted(text(moves.get(moves.size() - 1))));
            }
            line.append(", \"legal\": [").append(String.join(", ", legal)).append("]");
            line.append(", \"moves\": [").append(String.join(", ", names)).append("]");
            next = proceeds ? RULES.getNextState(state, moves) : null;
        }
        System.out.println(line.append("}"));
        return next;
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
