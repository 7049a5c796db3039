package dev.kassa.client;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The README's shop in Java, as it stands there. */
final class JavaShop {
    final Set<String> seen = ConcurrentHashMap.newKeySet(); // in a real shop both are tables of its database
    final Set<String> delivered = ConcurrentHashMap.newKeySet();
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
            if (event.isPaid() && seen.add(event.getId())) delivered.add(event.getReference());
        } catch (EventException error) {
            System.out.println(error.getMessage()); // which rule it breaks, and what to do
            status = 401;
        }
        request.sendResponseHeaders(status, -1);
        request.close();
    }
}
