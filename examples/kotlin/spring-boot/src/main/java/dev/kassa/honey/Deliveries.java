package dev.kassa.honey;

import dev.kassa.BlockingGateway;
import dev.kassa.DeliverySummary;
import dev.kassa.StopSignal;
import jakarta.annotation.PreDestroy;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.springframework.stereotype.Component;

// docs: begin worker
/** The only place that delivers what the gateway's payers have paid. */
@Component
class Deliveries {
    private final StopSignal stop = new StopSignal();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final Future<DeliverySummary> worker;

    Deliveries(BlockingGateway gateway, Orders orders) {
        worker = thread.submit(() -> gateway.deliverForever(stop, entry -> orders.deliverOnce(entry.getNote())));
    }

    @PreDestroy
    void end() throws Exception {
        stop.stop();
        thread.shutdown();
        System.out.println(worker.get()); // what was delivered, and what is left open
    }
}
// docs: end worker
