package dev.kassa.honey;

import dev.kassa.PaymentRef;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

// docs: begin orders
/** In a real shop this is a table: a PaymentRef is one text, and `delivered` is set in the transaction that delivers. */
@Component
class Orders {
    final Map<String, PaymentRef> payments = new ConcurrentHashMap<>();
    final Set<String> delivered = ConcurrentHashMap.newKeySet();

    /** The same payment can be reported again, after a crash for example. */
    void deliverOnce(String order) {
        if (delivered.add(order)) System.out.println("a jar of honey for " + order);
    }
}
// docs: end orders
