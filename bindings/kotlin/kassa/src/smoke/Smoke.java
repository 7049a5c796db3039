import dev.kassa.BlockingGateway;
import dev.kassa.Card;
import dev.kassa.Credentials;
import dev.kassa.Journal;
import dev.kassa.Kassa;
import dev.kassa.PaymentException;
import dev.kassa.PaymentRef;
import dev.kassa.PollPolicy;
import dev.kassa.Provider;
import dev.kassa.QrCode;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.JarFile;

/** What a user's program does first, with nothing but the jar and what it depends on. */
class Smoke {
    public static void main(String[] arguments) throws Exception {
        long begun = System.nanoTime();
        Kassa.load();
        System.out.println("loaded in " + (System.nanoTime() - begun) / 1_000_000 + " ms");
        check(Kassa.somToTyiyn(new BigDecimal("100.10")) == 10_010);
        check(QrCode.encode("https://pay.example.kg/q/17").png().length > 100);
        check(new Card("4111 1111 1111 1111", "08", 2031, "123", "Aibek Usenov").toString().equals("Card(**** 1111)"));
        // Nobody listens on this port of the loopback address.
        try (BlockingGateway gateway = new BlockingGateway("http://127.0.0.1:9", new Credentials("shop", "secret"))) {
            gateway.providerStatus("order-1", Provider.cards());
            check(false);
        } catch (PaymentException.Unavailable unavailable) {
            check(unavailable.isRetryable());
        }
        Path folder = Files.createTempDirectory("kassa-smoke");
        check(!Journal.open(folder).unfinished().iterator().hasNext());
        for (String name : List.of("open", "done", "paid", "")) Files.deleteIfExists(folder.resolve(name));
        PollPolicy policy = new PollPolicy(Duration.ofSeconds(5), Duration.ofMinutes(2));
        check(policy.getInterval().equals(Duration.ofSeconds(5)) && QrCode.PNG_SIDE == 400);
        PaymentRef payment = PaymentRef.card("o-1", new BigDecimal("100.10"), "KGS");
        check(PaymentRef.parse("kassa1:kind=card&order=o-1&provider=Cards&amount=100.10&currency=KGS").equals(payment));
        System.out.println(classesOffered() + ", and it works");
    }

    /** What an editor offers of the jar. The rest is synthetic. */
    private static String classesOffered() throws Exception {
        Path jar = Path.of(Kassa.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (JarFile file = new JarFile(jar.toFile())) {
            List<String> names = file.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class")).toList();
            int offered = 0;
            for (String name : names) {
                // These are for users of kotlinx.serialization and of OpenTelemetry, which the SDK does not bring along.
                if (name.endsWith("Serializer.class") || name.contains("OpenTelemetryObserver")) continue;
                Class<?> type = Class.forName(name.replace(".class", "").replace('/', '.'), false, Smoke.class.getClassLoader());
                boolean isOffered = Modifier.isPublic(type.getModifiers()) && !type.isSynthetic();
                check(!isOffered || List.of("dev.kassa", "dev.kassa.testing").contains(type.getPackageName()));
                if (isOffered) offered++;
            }
            return offered + " of " + names.size() + " classes are offered";
        }
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }
}
