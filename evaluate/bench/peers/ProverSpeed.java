import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Locale;
import org.ggp.base.util.game.Game;
import org.ggp.base.util.statemachine.MachineState;
import org.ggp.base.util.statemachine.Role;
import org.ggp.base.util.statemachine.implementation.prover.ProverStateMachine;

/** Random games of a rule sheet in GGP-Base's prover, measured by `SpeedServer`. */
public final class ProverSpeed extends SpeedServer.Games {
    private final ProverStateMachine machine;
    private final List<Role> roles;
    private MachineState state;
    private int ply;

    private ProverSpeed(ProverStateMachine machine) {
        super(machine.getRoles().size());
        this.machine = machine;
        roles = machine.getRoles();
        state = machine.getInitialState();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("usage: ProverSpeed SHEET WARM_UP_SECONDS");
            System.exit(2);
        }
        double start = SpeedServer.cpuSeconds();
        byte[] sheet = Files.readAllBytes(Paths.get(arguments[0]));
        String text = Game.preprocessRulesheet(new String(sheet, StandardCharsets.UTF_8));
        ProverStateMachine machine = new ProverStateMachine();
        machine.initialize(Game.createEphemeralGame(text).getRules());
        ProverSpeed games = new ProverSpeed(machine);
        double prepared = SpeedServer.cpuSeconds() - start;
        SpeedServer.run(games, Double.parseDouble(arguments[1]));
        System.out.printf(Locale.ROOT, "{\"prepare_seconds\": %.2f}%n", prepared);
        System.out.flush();
        SpeedServer.serve(games);
    }

    /** Makes one random joint move, or starts the next game. */
    @Override
    void play() throws Exception {
        if (!machine.isTerminal(state)) {
            state = machine.getNextState(state, machine.getRandomJointMove(state));
            ply++;
            steps++;
            return;
        }
        for (int role = 0; role < roles.size(); role++) {
            goals[role] += machine.getGoal(state, roles.get(role));
        }
        games++;
        plies += ply;
        ply = 0;
        state = machine.getInitialState();
    }
}
