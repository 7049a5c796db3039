package dev.kassa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.kassa.client.EventException.Reason;
import dev.kassa.server.KassaServer;
import dev.kassa.server.KassaServerOptions;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The client in Java: a shop that is paid and receives the event, and the other calls of a program. */
class FromJavaTest {
    private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    @Test
    void paidOrderIsDelivered() throws Exception {
        var web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        var options = new KassaServerOptions.Builder().eventsUrl("http://127.0.0.1:" + web.getAddress().getPort() + "/events").build();
        try (var server = KassaServer.start(options)) {
            var client = new KassaClient(server.getUrl(), server.getApiKey(), Duration.ofSeconds(60));
            var shop = new JavaShop(client, server.getEventsSecret());
            web.createContext("/events", shop::receive);
            web.start();

            assertTrue(shop.buy("order-1").startsWith(server.getUrl() + "/pay/"));
            var opened = client.findCheckout("order-1");
            var token = client.newToken(opened.getId()).getToken();
            server.request("POST", "/v1/checkout/payments", "{\"method\": \"pay_form\"}", token, "a-key");
            var page = client.checkout(opened.getId()).getPayments().get(0).getPageUrl();
            server.payByForm(page);
            client.check(opened.getId());
            awaitDelivery(shop);

            var again = Events.sign(server.getEventsSecret(), "order-1"); // as after a restore: a new identifier
            var request = HttpRequest.newBuilder(URI.create(options.getEventsUrl()));
            again.getHeaders().forEach(request::header);
            var sent = request.POST(HttpRequest.BodyPublishers.ofString(again.getBody())).build();
            assertEquals(200, HttpClient.newHttpClient().send(sent, HttpResponse.BodyHandlers.discarding()).statusCode());
            assertEquals(List.of("honey for order-1"), shop.parcels);
            var paid = client.checkout(opened.getId());
            assertTrue(paid.isPaid());
            assertEquals(paid.getPayments().get(0).getId(), paid.getPaidBy());
            var last = "";
            for (var at : client.events()) {
                if (at.getEvent().getKind().equals(EventKind.CHECKOUT_PAID)) last = at.getCursor();
            }
            assertTrue(!last.isEmpty());
        } finally {
            web.stop(0);
        }
    }

    @Test
    void eventsAreSignedAndVerified() {
        var signed = Events.sign(SECRET, "order-7");
        var event = Events.verify(signed.getBody(), signed.getHeaders(), "whsec_" + "A".repeat(32), SECRET);
        assertEquals("order-7", event.getReference());
        assertEquals(new BigDecimal("390"), event.getAmount());
        assertNull(event.getPayment());
        var missing = assertThrows(EventException.class, () -> Events.verify(signed.getBody(), Map.of(), SECRET));
        assertEquals(Reason.MISSING_HEADER, missing.getReason());
        byte[] body = signed.getBody().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        String unset = System.getenv("KASSA_NO_SUCH_VARIABLE");
        var none = assertThrows(EventException.class, () -> Events.verify(body, signed.getHeaders(), SECRET, unset));
        assertEquals(Reason.MALFORMED_SECRET, none.getReason());
        assertTrue(none.getMessage().startsWith("secret 2 "), none.getMessage());
        assertThrows(EventException.class, () -> new EventVerifier(List.of(SECRET)).verify(body, "evt_1", null, null));
    }

    @Test
    void wrongSettingsAreNamed() {
        var wrong = assertThrows(IllegalArgumentException.class, () -> new KassaClient("pay.example.kg", "key"));
        assertTrue(wrong.getMessage().startsWith("url: "), wrong.getMessage());
        var environment = assertThrows(IllegalArgumentException.class, KassaClient::fromEnvironment);
        assertTrue(environment.getMessage().startsWith("KASSA_SERVER_URL: "), environment.getMessage());
    }

    /** The shop receives the event on another thread. KASSA_PATIENCE multiplies the upper bound on a slow machine. */
    private static void awaitDelivery(JavaShop shop) throws InterruptedException {
        var patience = 60 * Double.parseDouble(Objects.requireNonNullElse(System.getenv("KASSA_PATIENCE"), "1"));
        var deadline = System.nanoTime() + (long) (patience * 1e9);
        while (shop.delivered.isEmpty() && System.nanoTime() < deadline) Thread.sleep(10);
    }
}
