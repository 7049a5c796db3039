package dev.kassa.java;

import dev.kassa.BlockingGateway;
import dev.kassa.GatewayConfig;
import dev.kassa.PaymentException;
import dev.kassa.PaymentRef;
import java.math.BigDecimal;

/** The README's program in Java, as it stands there. */
final class ReadmeProgram {
    private ReadmeProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (var gateway = new BlockingGateway(GatewayConfig.fromEnvironment())) { // KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD
            var verdict = gateway.check(PaymentRef.card("order-17", new BigDecimal("100.10"), "KGS"));
            System.out.println(verdict.isCharged() ? "ship" : verdict);
        } catch (PaymentException error) {
            System.out.println(error.getMessage());
        }
    }
}
