import org.ggp.base.player.GamePlayer;
import org.ggp.base.player.gamer.Gamer;
import org.ggp.base.player.gamer.statemachine.sample.SampleGamer;

/**
 * Sample player of GGP-Base, such as SampleMonteCarloGamer, over HTTP.
 *
 * <p>GGP-Base's own program for this needs further libraries, with which it finds the classes of
 * players.
 */
public final class BasePlayer {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("usage: BasePlayer PORT CLASS");
            System.exit(2);
        }
        String name = SampleGamer.class.getPackage().getName() + "." + arguments[1];
        Gamer gamer = (Gamer) Class.forName(name).getDeclaredConstructor().newInstance();
        new GamePlayer(Integer.parseInt(arguments[0]), gamer).start();
    }
}
