package dev.kassa.springbootshop;

import dev.kassa.BlockingGateway;
import dev.kassa.Credentials;
import dev.kassa.Dialect;
import dev.kassa.GatewayConfig;
import dev.kassa.Kassa;
import dev.kassa.MbankPayment;
import dev.kassa.PaymentRef;
import dev.kassa.PollPolicy;
import dev.kassa.sandbox.Sandbox;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * A program that Spring Boot has packed: only the loader of its jar can read the jars in it. It sells once, on a thread of the common pool,
 * whose context loader is the system's, and ends.
 */
@SpringBootApplication
public class Shop implements CommandLineRunner {
    private static final int PATIENCE_SECONDS = 60;
    /** Kept: a logger that nobody holds loses its handler. */
    private static final Logger LOGGER = Logger.getLogger("dev.kassa");

    public static void main(String[] arguments) {
        SpringApplication.run(Shop.class, arguments).close();
    }

    @Override
    public void run(String... arguments) throws Exception {
        Counting events = new Counting();
        LOGGER.setLevel(Level.ALL);
        LOGGER.addHandler(events);
        try (Sandbox sandbox = Sandbox.start()) {
            ForkJoinPool.commonPool().submit(() -> sell(sandbox)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        if (!events.first.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) throw new IllegalStateException("the payment is not logged");
        System.out.println("a jar of Spring Boot sells on a thread of the common pool");
    }

    private static PaymentRef sell(Sandbox sandbox) throws Exception {
        if (Thread.currentThread().getContextClassLoader() == Shop.class.getClassLoader()) {
            throw new IllegalStateException("this thread's context loader is the jar's own");
        }
        GatewayConfig config = new GatewayConfig.Builder(sandbox.getBaseUrl(), new Credentials(sandbox.getLogin(), sandbox.getPassword()))
                .dialect(Dialect.fromJson(Sandbox.dialectJson()))
                .build();
        MbankPayment payment = new MbankPayment(Kassa.newOrderNumber(), "996555000101", 250, "Two tickets");
        PollPolicy policy = new PollPolicy(Duration.ofMillis(50), Duration.ofSeconds(PATIENCE_SECONDS));
        try (BlockingGateway gateway = new BlockingGateway(config)) {
            PaymentRef created = gateway.createMbankPayment(payment).getPayment();
            gateway.confirmMbankPayment(created, "101101");
            try (var watch = gateway.watch(created, policy)) {
                if (!watch.outcome().isCharged()) throw new IllegalStateException("it is not paid");
            }
            return created;
        }
    }

    private static class Counting extends Handler {
        private final CountDownLatch first = new CountDownLatch(1);

        @Override
        public void publish(LogRecord event) {
            first.countDown();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
