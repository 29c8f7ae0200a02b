import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import org.ggp.base.util.game.Game;
import org.ggp.base.util.propnet.polymorphic.forwardDeadReckon.ForwardDeadReckonInternalMachineState;
import org.ggp.base.util.propnet.polymorphic.forwardDeadReckon.ForwardDeadReckonLegalMoveInfo;
import org.ggp.base.util.propnet.polymorphic.forwardDeadReckon.ForwardDeadReckonLegalMoveSet;
import org.ggp.base.util.statemachine.Role;
import org.ggp.base.util.statemachine.implementation.propnet.forwardDeadReckon.ForwardDeadReckonPropnetStateMachine;

/**
 * Measurement of random games in Sancho's propositional network, with the settings of gdl-perf
 * (https://github.com/AlexLandau/gdl-perf, SanchoRunnables.java).
 *
 * <p>Prints one JSON object a line: the preparation, then random games that are stepped by
 * `getLegalMoveSet` and `getNextState`, then those of Sancho's own search, `getDepthChargeResult`.
 * CPU time is that of the main thread: compilation of byte code and garbage collection, which run in
 * other threads, are not counted.
 */
public final class SanchoSpeed {
    private static final ForwardDeadReckonPropnetStateMachine MACHINE =
            new ForwardDeadReckonPropnetStateMachine();

    /** Random game from the initial state; returns its joint moves, and leaves its last state. */
    private interface Playout {
        int play();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 3) {
            System.err.println("usage: SanchoSpeed SHEET WARM_UP_SECONDS SECONDS");
            System.exit(2);
        }
        double warmUp = Double.parseDouble(arguments[1]);
        double seconds = Double.parseDouble(arguments[2]);
        double start = cpuSeconds();
        long startNanos = System.nanoTime();
        byte[] sheet = Files.readAllBytes(Paths.get(arguments[0]));
        String text = Game.preprocessRulesheet(new String(sheet, StandardCharsets.UTF_8));
        MACHINE.initialize(Game.createEphemeralGame(text).getRules());
        MACHINE.enableGreedyRollouts(false, true);
        double prepare = cpuSeconds() - start;
        double wall = (System.nanoTime() - startNanos) / 1e9;
        // Chooses the faster of two orders of updates, in 5 s of random games, as gdl-perf does.
        MACHINE.optimizeStateTransitionMechanism(System.currentTimeMillis() + 5000);
        System.out.printf(
                Locale.ROOT,
                "{\"measure\": \"prepare\", \"cpu_seconds\": %.2f, \"wall_seconds\": %.2f}%n",
                prepare,
                wall);
        Stepper stepper = new Stepper();
        measure("step", stepper, stepper.state, warmUp, seconds);
        ForwardDeadReckonInternalMachineState initial =
                MACHINE.createInternalState(MACHINE.getInitialState());
        ForwardDeadReckonPropnetStateMachine.PlayoutInfo info = MACHINE.new PlayoutInfo(-1);
        info.cutoffDepth = Integer.MAX_VALUE;
        Playout depthCharge =
                () -> {
                    MACHINE.getDepthChargeResult(initial, info);
                    return info.playoutLength;
                };
        measure("depth charge", depthCharge, null, warmUp, seconds);
        System.exit(0); // Sancho's logging threads do not end
    }

    /** Game that is stepped from outside. */
    private static final class Stepper implements Playout {
        final ForwardDeadReckonInternalMachineState state = MACHINE.createEmptyInternalState();
        private final ForwardDeadReckonInternalMachineState initial =
                MACHINE.createInternalState(MACHINE.getInitialState());
        private final ForwardDeadReckonInternalMachineState next =
                MACHINE.createEmptyInternalState();
        private final ForwardDeadReckonLegalMoveInfo[] moves =
                new ForwardDeadReckonLegalMoveInfo[MACHINE.getNumRoles()];

        @Override
        public int play() {
            state.copy(initial);
            int plies = 0;
            while (!MACHINE.isTerminal(state)) {
                ForwardDeadReckonLegalMoveSet legal = MACHINE.getLegalMoveSet(state);
                for (int role = 0; role < moves.length; role++) {
                    moves[role] = legal.getRandomMove(role);
                }
                MACHINE.getNextState(state, null, moves, next);
                state.copy(next);
                plies++;
            }
            return plies;
        }
    }

    /** Plays for some CPU seconds after a warm-up; prints the counts and the mean goals. */
    private static void measure(
            String name,
            Playout playout,
            ForwardDeadReckonInternalMachineState state,
            double warmUp,
            double seconds) {
        for (double end = cpuSeconds() + warmUp; cpuSeconds() < end; ) {
            playout.play();
        }
        Role[] roles = MACHINE.getRoles();
        double[] goals = new double[roles.length];
        long games = 0;
        long steps = 0;
        double start = cpuSeconds();
        double elapsed = 0;
        while (elapsed < seconds) {
            // The clock is read every millisecond or so.
            for (long limit = steps + 1000; steps < limit; games++) {
                steps += playout.play();
                for (int role = 0; role < roles.length; role++) {
                    goals[role] += MACHINE.getGoal(state, roles[role]);
                }
            }
            elapsed = cpuSeconds() - start;
        }
        StringBuilder means = new StringBuilder();
        for (double goal : goals) {
            means.append(means.length() > 0 ? ", " : "");
            means.append(String.format(Locale.ROOT, "%.3f", goal / games));
        }
        System.out.printf(
                Locale.ROOT,
                "{\"measure\": \"%s\", \"cpu_seconds\": %.3f, \"games\": %d, \"steps\": %d,"
                        + " \"mean_goals\": [%s]}%n",
                name,
                elapsed,
                games,
                steps,
                means);
        System.out.flush();
    }

    private static double cpuSeconds() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
    }
}
