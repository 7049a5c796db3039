package shop;

import dev.kassa.BlockingGateway;
import dev.kassa.Credentials;
import dev.kassa.Kassa;
import dev.kassa.MbankPayment;
import dev.kassa.PaymentException;
import dev.kassa.PaymentRef;
import dev.kassa.Provider;
import dev.kassa.testing.FakeGateway;

/** A program on the module path: names of its modules resolve, the library in the jar is found, and calls and coroutines work. */
public class Shop {
    public static void main(String[] arguments) throws Exception {
        check(Kassa.class.getModule().getName().equals("dev.kassa") && Shop.class.getModule().isNamed());
        MbankPayment payment = new MbankPayment(Kassa.newOrderNumber(), "996555000101", 250, "Two tickets");
        PaymentRef stored = PaymentRef.parse(payment.paymentRef().toString());
        check(new FakeGateway().getFuture().createMbankPayment(payment).join().getPayment().getKind() == stored.getKind());
        // Nobody listens on this port of the loopback address.
        try (BlockingGateway gateway = new BlockingGateway("http://127.0.0.1:9", new Credentials("shop", "secret"))) {
            gateway.providerStatus("order-1", Provider.cards());
            check(false);
        } catch (PaymentException.Unavailable unavailable) {
            check(unavailable.isRetryable());
        }
        System.out.println("it works on the module path");
    }

    private static void check(boolean holds) {
        if (!holds) throw new AssertionError();
    }
}
