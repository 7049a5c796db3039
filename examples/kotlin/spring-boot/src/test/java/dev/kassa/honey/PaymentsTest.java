package dev.kassa.honey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kassa.BlockingGateway;
import dev.kassa.Journal;
import dev.kassa.client.Events;
import dev.kassa.client.KassaClient;
import dev.kassa.testing.FakeGateway;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.bean.override.convention.TestBean;

// docs: begin fake
/** The shop with a gateway in memory: no process, no network, no waiting. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "kassa.events-secret=" + PaymentsTest.SECRET)
class PaymentsTest {
    static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    static final FakeGateway FAKE = newFake();

    @TestBean BlockingGateway gateway;
    @TestBean KassaClient client;
    @LocalServerPort int port;
    @Autowired Orders orders;

    static BlockingGateway gateway() throws Exception {
        return FAKE.getBlocking().withJournal(Journal.open(Files.createTempDirectory("payments")));
    }

    static KassaClient client() {
        return new KassaClient("http://127.0.0.1:9", "ak_test");
    }

    @Test
    void whoPaysIsDeliveredTo() throws Exception {
        var browser = new Browser(port);
        assertEquals(200, browser.post("/orders/order-1/pay?phone=996555000101").statusCode());
        assertEquals(422, browser.post("/orders/order-1/code?code=wrong").statusCode());
        assertEquals("waiting", browser.get("/orders/order-1"));
        assertEquals(200, browser.post("/orders/order-1/code?code=" + FAKE.getOtp()).statusCode());
        browser.waitUntilDelivered("order-1"); // the worker queried it
    }

    @Test
    void eventDeliversOnce() throws Exception {
        var browser = new Browser(port);
        var paid = Events.sign(SECRET, "order-2");
        assertEquals(200, browser.post("/kassa-events", paid.getBody(), paid.getHeaders()).statusCode());
        assertEquals(200, browser.post("/kassa-events", paid.getBody(), paid.getHeaders()).statusCode());
        assertEquals("delivered", browser.get("/orders/order-2"));
        var forged = Events.sign(SECRET.replace('M', 'N'), "order-3");
        var refused = browser.post("/kassa-events", forged.getBody(), forged.getHeaders());
        assertEquals(401, refused.statusCode());
        assertTrue(refused.body().contains("signature"), refused.body());
        assertEquals("waiting", browser.get("/orders/order-3"));
    }

    private static FakeGateway newFake() {
        try {
            return new FakeGateway();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
// docs: end fake
