package dev.kassa.java;

import dev.kassa.BlockingGateway;
import dev.kassa.Credentials;
import dev.kassa.PaymentException;
import dev.kassa.PaymentRef;
import java.math.BigDecimal;

/** The README's program in Java, as it stands there. */
final class ReadmeProgram {
    private ReadmeProgram() {}

    static void run(String password) throws InterruptedException {
        try (var gateway = new BlockingGateway("https://pay.example.kg", new Credentials("shop", password))) {
            var verdict = gateway.check(PaymentRef.card("order-17", new BigDecimal("100.10"), "KGS"));
            System.out.println(verdict.isCharged() ? "ship" : verdict);
        } catch (PaymentException error) {
            System.out.println(error.getMessage());
        }
    }
}
