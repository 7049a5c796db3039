package dev.kassa.client;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The README's shop in Java, as it stands there. */
final class JavaShop {
    final Set<String> delivered = ConcurrentHashMap.newKeySet(); // in a real shop a column of its table of orders
    final List<String> parcels = new CopyOnWriteArrayList<>();
    private final KassaClient client;
    private final String eventsSecret;

    JavaShop(KassaClient client, String eventsSecret) {
        this.client = client;
        this.eventsSecret = eventsSecret;
    }

    String buy(String order) {
        var wanted = new NewCheckout(order, new BigDecimal("390"), "A jar of honey", "https://shop.example.kg/orders/" + order);
        return client.openCheckout(wanted).getPageUrl(); // send the payer there
    }

    void receive(HttpExchange request) throws IOException {
        int status = 200; // also for kinds that this shop does not know
        try {
            var event = Events.verify(request.getRequestBody().readAllBytes(), request.getRequestHeaders(), eventsSecret);
            // Once for each order: after a restore of the server, the same payment comes with another event.getId().
            if (event.isPaid() && delivered.add(event.getReference())) parcels.add("honey for " + event.getReference());
        } catch (EventException error) {
            System.out.println(error.getMessage()); // which rule it breaks, and what to do
            status = 401;
        }
        request.sendResponseHeaders(status, -1);
        request.close();
    }
}
