package dev.kassa.honey;

import dev.kassa.BlockingGateway;
import dev.kassa.GatewayConfig;
import dev.kassa.Journal;
import dev.kassa.PaymentException;
import dev.kassa.client.KassaClient;
import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

// docs: begin application
/** A shop that sells honey: by its own gateway, and by the merchant's kassa-server. */
@SpringBootApplication
public class ShopApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }

    @Bean // closed by Spring at the end: it waits for payments in flight
    BlockingGateway gateway(@Value("${kassa.journal}") Path journal) throws PaymentException {
        return new BlockingGateway(GatewayConfig.fromEnvironment(), Journal.open(journal));
    }

    @Bean
    KassaClient client() {
        return KassaClient.fromEnvironment();
    }
}
// docs: end application
