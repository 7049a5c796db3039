import dev.kassa.BlockingGateway;
import dev.kassa.Card;
import dev.kassa.Credentials;
import dev.kassa.Kassa;
import dev.kassa.PaymentException;
import dev.kassa.Provider;
import dev.kassa.QrCode;
import java.math.BigDecimal;

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
            gateway.providerStatus("order-1", Provider.Cards.INSTANCE);
            check(false);
        } catch (PaymentException.Unavailable unavailable) {
            check(unavailable.isRetryable());
        }
        System.out.println("works");
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }
}
