import dev.kassa.BlockingGateway;
import dev.kassa.Credentials;
import dev.kassa.Dialect;
import dev.kassa.GatewayConfig;
import dev.kassa.Kassa;
import dev.kassa.MbankPayment;
import dev.kassa.PaymentRef;
import dev.kassa.PollPolicy;
import dev.kassa.sandbox.Sandbox;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * The native library is loaded once, whichever loader has the classes and whichever thread calls first. A second copy would have a log and
 * objects of its own.
 *
 * <p>usage: java -Djna.tmpdir=FOLDER -cp CLASSES:KASSA:SANDBOX Loading
 */
class Loading {
    private static final int PATIENCE_SECONDS = 60;
    /** What this process has mapped into its memory. Linux has it. */
    private static final Path MAPS = Path.of("/proc/self/maps");
    /** Kept: a logger that nobody holds loses its handler. */
    private static final Logger LOGGER = Logger.getLogger("dev.kassa");
    private static final LinkedBlockingQueue<String> LOGGED = new LinkedBlockingQueue<>();
    private static final Set<ClassLoader> USED = new HashSet<>();

    public static void main(String[] arguments) throws Exception {
        LOGGER.setLevel(Level.ALL);
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(new Queueing());
        try (Sandbox sandbox = Sandbox.start()) {
            String[] gateway = {sandbox.getBaseUrl(), sandbox.getLogin(), sandbox.getPassword(), Sandbox.dialectJson()};
            URL[] classPath = classPath();
            ClassLoader foreign = ClassLoader.getPlatformClassLoader();
            ClassLoader plain = new URLClassLoader(classPath, foreign);
            ClassLoader changing = new Changing(classPath, foreign);
            pay("a thread whose context loader does not know Kassa", plain, foreign, gateway);
            pay("a thread whose context loader does", plain, plain, gateway);
            pay("a loader whose text changes", changing, changing, gateway);
            pay("a thread without a context loader", new URLClassLoader(classPath, foreign), null, gateway);
        }
        System.out.println("the library is loaded once, whoever calls first");
        System.exit(0); // the loaders' threads may still sleep
    }

    private static URL[] classPath() throws Exception {
        List<URL> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) entries.add(Path.of(entry).toUri().toURL());
        return entries.toArray(URL[]::new);
    }

    private static void pay(String what, ClassLoader loader, ClassLoader context, String[] gateway) throws Exception {
        // JNA's own library, of which each loader has one.
        Class.forName("com.sun.jna.Native", true, loader);
        boolean isFirst = USED.add(loader);
        Set<String> before = mapped();
        FutureTask<String> payment = new FutureTask<>(() -> {
            Class<?> payer = Class.forName("Loading$Payer", true, loader);
            return (String) payer.getMethod("pay", String[].class).invoke(null, (Object) gateway);
        });
        Thread thread = new Thread(payment, what);
        thread.setContextClassLoader(context);
        thread.start();
        String orderNumber = payment.get(PATIENCE_SECONDS, TimeUnit.SECONDS);

        Set<String> copies = mapped();
        copies.removeAll(before);
        int expected = isFirst && Files.exists(MAPS) ? 1 : 0;
        if (copies.size() != expected) throw new AssertionError(what + ": " + copies.size() + " copies were loaded: " + copies);
        for (String logged = ""; !logged.contains(orderNumber); ) {
            logged = LOGGED.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (logged == null) throw new AssertionError(what + ": nothing is logged of the payment");
        }
    }

    /** The files in JNA's folder that are mapped, by device and inode: JNA deletes them as soon as they are loaded. */
    private static Set<String> mapped() throws Exception {
        Set<String> files = new HashSet<>();
        if (!Files.exists(MAPS)) return files;
        String folder = Path.of(System.getProperty("jna.tmpdir")).toRealPath() + "/";
        for (String line : Files.readAllLines(MAPS)) {
            // Address, permissions, offset, device, inode, path.
            String[] parts = line.split("\\s+", 6);
            if (parts.length == 6 && parts[5].startsWith(folder)) files.add(parts[3] + " " + parts[4]);
        }
        return files;
    }

    /** What a program does. Each loader has this class for itself. */
    public static class Payer {
        public static String pay(String[] gateway) throws Exception {
            GatewayConfig config = new GatewayConfig.Builder(gateway[0], new Credentials(gateway[1], gateway[2]))
                    .dialect(Dialect.fromJson(gateway[3]))
                    .build();
            MbankPayment payment = new MbankPayment(Kassa.newOrderNumber(), "996555000101", 250, "Two tickets");
            try (BlockingGateway bank = new BlockingGateway(config)) {
                PaymentRef created = bank.createMbankPayment(payment).getPayment();
                bank.confirmMbankPayment(created, "101101");
                PollPolicy policy = new PollPolicy(Duration.ofMillis(50), Duration.ofSeconds(PATIENCE_SECONDS));
                try (var watch = bank.watch(created, policy)) {
                    if (!watch.outcome().isCharged()) throw new AssertionError("it is not paid");
                }
            }
            return payment.getOrderNumber();
        }
    }

    /** Application servers have loaders whose text tells their state, and JNA knows a loader by its text. */
    private static class Changing extends URLClassLoader {
        private int asked;

        Changing(URL[] classPath, ClassLoader parent) {
            super(classPath, parent);
        }

        @Override
        public String toString() {
            return "asked " + asked++ + " times";
        }
    }

    private static class Queueing extends Handler {
        @Override
        public void publish(LogRecord event) {
            LOGGED.add(event.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
