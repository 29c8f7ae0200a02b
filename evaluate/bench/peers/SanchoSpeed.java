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
 * Random games of a rule sheet in Sancho's propositional network, measured by `SpeedServer`.
 *
 * <p>The settings are those of gdl-perf (https://github.com/AlexLandau/gdl-perf,
 * SanchoRunnables.java). Of two loops the faster one counts: games that are stepped from outside, as
 * in gdl-perf, and `getDepthChargeResult`, the playouts of Sancho's own search.
 */
public final class SanchoSpeed {
    private static final ForwardDeadReckonPropnetStateMachine MACHINE =
            new ForwardDeadReckonPropnetStateMachine();

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("usage: SanchoSpeed SHEET WARM_UP_SECONDS");
            System.exit(2);
        }
        double warmUp = Double.parseDouble(arguments[1]);
        long startNanos = System.nanoTime();
        double start = SpeedServer.cpuSeconds();
        byte[] sheet = Files.readAllBytes(Paths.get(arguments[0]));
        String text = Game.preprocessRulesheet(new String(sheet, StandardCharsets.UTF_8));
        MACHINE.initialize(Game.createEphemeralGame(text).getRules());
        MACHINE.enableGreedyRollouts(false, true);
        double prepared = SpeedServer.cpuSeconds() - start;
        double wall = (System.nanoTime() - startNanos) / 1e9;
        // Random games of 5 s, as in gdl-perf, which choose the faster of two orders of updates.
        MACHINE.optimizeStateTransitionMechanism(System.currentTimeMillis() + 5000);
        SpeedServer.Games steps = new SteppedGames();
        SpeedServer.Games charges = new DepthCharges();
        double stepRate = warmUp(steps, warmUp);
        double chargeRate = warmUp(charges, warmUp);
        System.out.printf(
                Locale.ROOT,
                "{\"prepare_seconds\": %.2f, \"prepare_wall_seconds\": %.2f, \"loop\": \"%s\","
                        + " \"stepped\": %.0f, \"depth_charges\": %.0f}%n",
                prepared,
                wall,
                stepRate > chargeRate ? "stepped" : "depth charges",
                stepRate,
                chargeRate);
        System.out.flush();
        SpeedServer.serve(stepRate > chargeRate ? steps : charges);
        System.exit(0); // Sancho's threads do not end
    }

    /** Plays for twice some seconds; returns the steps per second of the second half. */
    private static double warmUp(SpeedServer.Games games, double seconds) throws Exception {
        SpeedServer.run(games, seconds);
        long steps = games.steps;
        double elapsed = SpeedServer.run(games, seconds);
        return (games.steps - steps) / elapsed;
    }

    /** Adds a finished game; a null state means the machine's last one. */
    private static void finish(
            SpeedServer.Games games, int plies, ForwardDeadReckonInternalMachineState state) {
        Role[] roles = MACHINE.getRoles();
        for (int role = 0; role < roles.length; role++) {
            games.goals[role] += MACHINE.getGoal(state, roles[role]);
        }
        games.steps += plies;
        games.plies += plies;
        games.games++;
    }

    /** Games that are stepped by `getLegalMoveSet` and `getNextState`. */
    private static final class SteppedGames extends SpeedServer.Games {
        private final ForwardDeadReckonInternalMachineState initial =
                MACHINE.createInternalState(MACHINE.getInitialState());
        private final ForwardDeadReckonInternalMachineState state =
                MACHINE.createEmptyInternalState();
        private final ForwardDeadReckonInternalMachineState next =
                MACHINE.createEmptyInternalState();
        private final ForwardDeadReckonLegalMoveInfo[] moves =
                new ForwardDeadReckonLegalMoveInfo[MACHINE.getNumRoles()];

        SteppedGames() {
            super(MACHINE.getNumRoles());
        }

        @Override
        void play() {
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
            finish(this, plies, state);
        }
    }

    /** Playouts of Sancho's search. */
    private static final class DepthCharges extends SpeedServer.Games {
        private final ForwardDeadReckonInternalMachineState initial =
                MACHINE.createInternalState(MACHINE.getInitialState());
        private final ForwardDeadReckonPropnetStateMachine.PlayoutInfo info =
                MACHINE.new PlayoutInfo(-1);

        DepthCharges() {
            super(MACHINE.getNumRoles());
            info.cutoffDepth = Integer.MAX_VALUE;
        }

        @Override
        void play() {
            MACHINE.getDepthChargeResult(initial, info);
            finish(this, info.playoutLength, null);
        }
    }
}
