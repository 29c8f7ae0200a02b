import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * Process that measures random games on request, in the protocol of serve.py.
 *
 * <p>When ready, it writes one JSON line about the preparation. Then each line that it reads is a
 * number of seconds: it plays for that CPU time of its main thread, and writes steps, seconds,
 * finished games, their plies and the sums of their goals as one JSON line. The compilation of byte
 * code and the collection of garbage run in other threads, and are not counted.
 */
final class SpeedServer {
    private SpeedServer() {}

    /** Random games; `play` plays a whole game or one joint move of it. */
    abstract static class Games {
        long steps;
        long games;
        long plies;
        final long[] goals;

        Games(int roles) {
            goals = new long[roles];
        }

        abstract void play() throws Exception;
    }

    /** Answers requests until the input ends. */
    static void serve(Games games) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            long steps = games.steps;
            long finished = games.games;
            long plies = games.plies;
            long[] goals = games.goals.clone();
            double seconds = run(games, Double.parseDouble(line));
            StringBuilder sums = new StringBuilder();
            for (int role = 0; role < goals.length; role++) {
                sums.append(role > 0 ? ", " : "").append(games.goals[role] - goals[role]);
            }
            System.out.printf(
                    Locale.ROOT,
                    "{\"steps\": %d, \"seconds\": %.4f, \"games\": %d, \"plies\": %d,"
                            + " \"goals\": [%s]}%n",
                    games.steps - steps,
                    seconds,
                    games.games - finished,
                    games.plies - plies,
                    sums);
            System.out.flush();
        }
    }

    /** Plays for about some CPU seconds; returns the exact time. */
    static double run(Games games, double seconds) throws Exception {
        double start = cpuSeconds();
        double elapsed = 0;
        int calls = 1; // between two readings of the clock
        while (elapsed < seconds) {
            for (int call = 0; call < calls; call++) {
                games.play();
            }
            double last = elapsed;
            elapsed = cpuSeconds() - start;
            calls = elapsed - last < 0.001 ? 2 * calls : calls;
        }
        return elapsed;
    }

    static double cpuSeconds() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
    }
}
