package dev.kassa.sandbox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kassa.sandbox.junit.WithSandbox;
import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The same in Java. */
@WithSandbox
class FromJavaTest {
    @Test
    void lostResponseIsSeen(Sandbox sandbox) {
        Shop shop = new Shop(sandbox);
        try (ActiveFault fault = sandbox.getFaults().add(FaultName.RESPONSE_LOST, "order-1", 1)) {
            assertThrows(java.io.IOException.class, () -> shop.payByCard("order-1", TestCards.APPROVED.getPan(), "http://127.0.0.1:9/"));
            assertEquals(1, fault.getStruck());
        }
        assertEquals(new BigDecimal("100.10"), sandbox.payment("order-1").getAmount());
        assertTrue(sandbox.approve("order-1").isCharged());
        SandboxException.Refused refused = assertThrows(SandboxException.Refused.class, () -> sandbox.decline("order-1"));
        assertEquals(409, refused.getHttpStatus());
    }

    @Test
    void optionsHaveABuilder() {
        SandboxOptions.Builder builder = new SandboxOptions.Builder()
                .credentials("shop", "planted")
                .demoPayments(3)
                .redirectDeclines(true)
                .callbackPauses(Duration.ofSeconds(1), Duration.ofSeconds(2));
        assertTrue(builder.toString().contains("demoPayments=3") && !builder.toString().contains("planted"), builder.toString());
        try (Sandbox sandbox = Sandbox.start(builder.build())) {
            assertEquals(3, sandbox.ledger().size());
            assertEquals(Duration.ofHours(1), sandbox.getClock().resolvePending(2, Duration.ofHours(1)).getResolveAfter());
            assertTrue(sandbox.getSwitches().read().getRedirectDeclines());
            assertEquals("planted", sandbox.getPassword());
        }
    }
}
