package dev.kassa.honey;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;

/** Calls the shop, as a payer's browser does. */
final class Browser {
    private static final long POLL_MILLIS = 20;
    /** The upper bound of a wait. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine. */
    static final long PATIENCE_SECONDS = (long) (60 * Double.parseDouble(System.getenv().getOrDefault("KASSA_PATIENCE", "1")));

    private final HttpClient client = HttpClient.newHttpClient();
    private final String shop;

    Browser(int port) {
        shop = "http://127.0.0.1:" + port;
    }

    String get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(shop + path)).build(), BodyHandlers.ofString()).body();
    }

    HttpResponse<String> post(String path) throws Exception {
        return post(path, "", Map.of());
    }

    HttpResponse<String> post(String path, String body, Map<String, String> headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(shop + path)).POST(BodyPublishers.ofString(body));
        headers.forEach(request::header);
        return client.send(request.build(), BodyHandlers.ofString());
    }

    void waitUntilDelivered(String order) throws Exception {
        long until = System.nanoTime() + PATIENCE_SECONDS * 1_000_000_000L;
        while (!get("/orders/" + order).equals("delivered")) {
            if (System.nanoTime() > until) throw new AssertionError(order + " is not delivered");
            Thread.sleep(POLL_MILLIS);
        }
    }
}
