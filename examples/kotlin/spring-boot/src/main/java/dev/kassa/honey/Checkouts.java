package dev.kassa.honey;

import dev.kassa.client.EventException;
import dev.kassa.client.Events;
import dev.kassa.client.KassaClient;
import dev.kassa.client.NewCheckout;
import java.math.BigDecimal;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

// docs: begin server
@RestController
record Checkouts(KassaClient client, Orders orders, @Value("${kassa.events-secret}") String eventsSecret) {
    @PostMapping("/orders/{order}/checkout")
    String open(@PathVariable String order) {
        var wanted = new NewCheckout(order, new BigDecimal("390"), "A jar of honey", "https://shop.example.kg/orders/" + order);
        return client.openCheckout(wanted).getPageUrl(); // send the payer there
    }

    @PostMapping("/kassa-events")
    ResponseEntity<String> event(@RequestBody byte[] body, @RequestHeader Map<String, String> headers) {
        try {
            var event = Events.verify(body, headers, eventsSecret);
            if (event.isPaid()) orders.deliverOnce(event.getReference());
            return ResponseEntity.ok().build(); // also for kinds that this shop does not know
        } catch (EventException error) {
            return ResponseEntity.status(401).body(error.getMessage()); // which rule it breaks, and what to do
        }
    }
}
// docs: end server
