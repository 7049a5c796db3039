package dev.kassa.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kassa.server.junit.WithKassaServer;
import org.junit.jupiter.api.Test;

/** The same in Java. */
class FromJavaTest {
    @Test
    @WithKassaServer
    void checkoutIsOpened(KassaServer server) {
        String order =
                "{\"reference\": \"java-1\", \"amount\": \"390\", \"description\": \"Honey\", \"return_url\": \"https://shop.example.kg/\"}";
        server.request("POST", "/v1/checkouts", order);
        assertTrue(server.checkout("java-1").contains("\"state\":\"open\""));
        KassaServerException.Refused refused =
                assertThrows(KassaServerException.Refused.class, () -> server.checkout("nothing"));
        assertEquals(404, refused.getHttpStatus());
    }

    @Test
    void optionsHaveABuilder() {
        KassaServerOptions.Builder builder = new KassaServerOptions.Builder()
                .eventsUrl("http://127.0.0.1:9/events")
                .setting("gateway.proxy", "planted");
        assertFalse(builder.toString().contains("planted"), builder.toString());
        assertThrows(KassaServerException.NotStarted.class, () -> KassaServer.start(builder.build()));
    }
}
