import dev.kassa.client.Events;
import dev.kassa.client.KassaClient;
import dev.kassa.client.NewCheckout;
import dev.kassa.server.KassaServer;
import java.math.BigDecimal;

/** What must work wherever the jar is: a checkout is opened, and an event verified. */
class Smoke {
    public static void main(String[] arguments) {
        try (KassaServer server = KassaServer.start()) {
            KassaClient client = new KassaClient(server.getUrl(), server.getApiKey());
            NewCheckout order = new NewCheckout("order-1", new BigDecimal("390"), "Honey", "https://shop.example.kg/paid");
            String opened = client.openCheckout(order).getReference();
            var signed = Events.sign(server.getEventsSecret(), opened);
            var event = Events.verify(signed.getBody(), signed.getHeaders(), server.getEventsSecret());
            if (!event.getReference().equals("order-1")) throw new AssertionError(event);
        }
        System.out.println("the client opens a checkout and verifies an event");
    }
}
