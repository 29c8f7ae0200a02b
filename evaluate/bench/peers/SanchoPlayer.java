import java.lang.reflect.Field;
import java.util.Properties;
import org.ggp.base.player.GamePlayer;
import org.ggp.base.player.gamer.statemachine.sancho.MachineSpecificConfiguration;
import org.ggp.base.player.gamer.statemachine.sancho.Sancho;

/**
 * Sancho as a player of GGP-Base's HTTP protocol, with one search thread.
 *
 * <p>By default Sancho has plans and statistics of games in files, which are not used here, and
 * reports its matches to a public chat on the internet, which is disabled.
 */
public final class SanchoPlayer {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            System.err.println("usage: SanchoPlayer PORT RESERVE_MILLISECONDS");
            System.exit(2);
        }
        // Nothing listens there, so no connection to the chat is made; Sancho fails without a chat.
        System.setProperty("https.proxyHost", "127.0.0.1");
        System.setProperty("https.proxyPort", "9");
        Field field = MachineSpecificConfiguration.class.getDeclaredField("MACHINE_PROPERTIES");
        field.setAccessible(true);
        Properties properties = (Properties) field.get(null);
        properties.setProperty("SAFETY_MARGIN", arguments[1]);
        properties.setProperty("CPU_INTENSIVE_THREADS", "1");
        properties.setProperty("USE_AFFINITY", "false");
        properties.setProperty("DISABLE_LEARNING", "true");
        properties.setProperty("DISABLE_SAVED_PLANS", "true");
        new GamePlayer(Integer.parseInt(arguments[0]), new Sancho()).start();
    }
}
