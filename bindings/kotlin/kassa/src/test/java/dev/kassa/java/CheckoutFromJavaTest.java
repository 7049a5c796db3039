package dev.kassa.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kassa.Checkout;
import dev.kassa.CheckoutListener;
import dev.kassa.CheckoutListening;
import dev.kassa.CheckoutSettings;
import dev.kassa.CheckoutState;
import dev.kassa.Language;
import dev.kassa.PaymentException;
import dev.kassa.PaymentMethod;
import dev.kassa.Rule;
import dev.kassa.checkout.Scene;
import dev.kassa.checkout.Stage;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A payment screen in Java. */
class CheckoutFromJavaTest {
    private static final CheckoutSettings SETTINGS = new CheckoutSettings.Builder()
            .connectTimeout(Duration.ofSeconds(20))
            .userAgentSuffix("my-shop/1.2")
            .language(Language.KYRGYZ)
            .build();

    /** The thread that draws. Its name is no help: coroutines add their own to it while they are debugged. */
    private volatile Thread drawing;

    private final ExecutorService screen = Executors.newSingleThreadExecutor(task -> drawing = new Thread(task, "screen"));
    private final BlockingQueue<CheckoutState> shown = new LinkedBlockingQueue<>();
    private final CompletableFuture<Thread> ended = new CompletableFuture<>();

    @AfterEach
    void stop() {
        screen.shutdown();
    }

    @Test
    void statesAreShownOnTheThreadThatDraws() throws Exception {
        try (Scene scene = Stage.open()) {
            Checkout checkout = Checkout.open(
                    scene.getServerUrl(), "ct_nonsense", SETTINGS, () -> CompletableFuture.supplyAsync(scene::newToken));
            checkout.listen(screen, new CheckoutListener() {
                @Override
                public void stateChanged(CheckoutState state) {
                    assertSame(drawing, Thread.currentThread());
                    shown.add(state);
                }

                @Override
                public void ended() {
                    ended.complete(Thread.currentThread());
                }
            });
            CheckoutState.Ready ready = (CheckoutState.Ready) until(state -> state instanceof CheckoutState.Ready);
            assertTrue(ready.getMethods().contains(PaymentMethod.QR), ready.toString());
            PaymentException.Invalid early = assertThrows(PaymentException.Invalid.class, () -> checkout.confirm("123456"));
            assertEquals(Rule.STATE, early.getViolations().get(0).getRule());
            checkout.payByQr();
            until(state -> state instanceof CheckoutState.ShowQr);
            scene.step("approve");
            assertEquals("390", ((CheckoutState.Paid) until(CheckoutState::isPaid)).getAmount().toPlainString());
            assertEquals("order-1", checkout.getDetails().getReference());
            checkout.close();
            assertSame(drawing, ended.join());
        }
    }

    @Test
    void screenThatIsGoneIsToldNothing() throws Exception {
        try (Scene scene = Stage.open();
                Checkout checkout = Checkout.open(scene.getServerUrl(), scene.getClientToken())) {
            CheckoutListening listening = checkout.listen(screen, shown::add);
            until(state -> state instanceof CheckoutState.Ready);
            screen.submit(() -> {
                listening.close();
                shown.clear();
            }).get();
            CompletableFuture<CheckoutState> another = new CompletableFuture<>();
            checkout.listen(screen, state -> {
                if (state instanceof CheckoutState.ShowQr) another.complete(state);
            });
            checkout.payByQr();
            assertInstanceOf(CheckoutState.ShowQr.class, another.join());
            assertEquals(0, shown.size(), shown.toString());
            assertEquals("token_expired", CheckoutState.tokenExpired().getKind());
            assertEquals("expired", CheckoutState.expired().getKind());
        }
    }

    private CheckoutState until(Predicate<CheckoutState> isWanted) throws InterruptedException {
        CheckoutState state = shown.take();
        while (!isWanted.test(state)) {
            state = shown.take();
        }
        return state;
    }
}
