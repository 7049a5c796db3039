import com.sun.net.httpserver.*;
import java.net.*;
import java.net.http.*;
import java.util.*;
import java.util.concurrent.*;

/** A shop in one file: a product, a checkout at kassa-server, and a receiver of its signed events. */
class Shop {
    static final String SERVER = System.getenv("KASSA_SERVER_URL"), KEY = System.getenv("KASSA_API_KEY");
    static final String SECRET = System.getenv("KASSA_EVENTS_SECRET"), PORT = System.getenv("PORT");
    static final HttpClient client = HttpClient.newHttpClient();
    static final Map<String, String> orders = new ConcurrentHashMap<>();
    static final Set<String> seen = ConcurrentHashMap.newKeySet(); // In a real shop both are tables of its database.

    // docs: begin open
    static String openCheckout(String wanted) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(SERVER + "/v1/checkouts")).POST(HttpRequest.BodyPublishers.ofString(wanted))
                .headers("Authorization", "Bearer " + KEY, "Content-Type", "application/json");
        var answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() > 299) throw new Exception(answer.statusCode() + answer.body());
        return answer.body();
    }
    static String member(String json, String name) { return json.split("\"" + name + "\"\\s*:\\s*\"?", 2)[1].split("[\",}]", 2)[0]; }
    // docs: end open

    // docs: begin buy
    static String buy(String order) throws Exception {
        orders.put(order, "not paid yet");
        var wanted = "'reference': '%s', 'amount': '390', 'description': 'A jar of honey', 'return_url': 'http://127.0.0.1:%s/orders/%1$s'";
        return member(openCheckout("{" + wanted.formatted(order, PORT).replace('\'', '"') + "}"), "page_url");
    }
    // docs: end buy

    // docs: begin event
    static String take(Headers headers, String body) throws Exception {
        String id = headers.getFirst("webhook-id"), at = headers.getFirst("webhook-timestamp");
        var mac = javax.crypto.Mac.getInstance("HmacSHA256"); // The Standard Webhooks scheme, which has a library for Java, too.
        mac.init(new javax.crypto.spec.SecretKeySpec(Base64.getDecoder().decode(SECRET.substring(6)), "HmacSHA256"));
        var right = "v1," + Base64.getEncoder().encodeToString(mac.doFinal((id + "." + at + "." + body).getBytes("UTF-8")));
        var given = List.of(("" + headers.getFirst("webhook-signature")).split(" ")).stream();
        var isSigned = given.anyMatch(one -> java.security.MessageDigest.isEqual(right.getBytes(), one.getBytes()));
        if (!isSigned || Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(at)) > 300) return "401";
        var order = member(body, "reference"); // In a database: one transaction, with a unique index over `seen`.
        // For its price: another shop of the same server could have used the same reference.
        var isWhole = member(body, "amount").equals("390") && member(body, "currency").equals("KGS");
        var isPaid = orders.containsKey(order) && isWhole && member(body, "type").equals("checkout.paid") && seen.add(id);
        if (isPaid && !"delivered".equals(orders.put(order, "delivered"))) System.out.println("deliver " + order);
        return orders.containsKey(order) ? "200" : "404"; // What is not taken comes again.
    }
    // docs: end event

    static void answer(HttpExchange exchange) throws Exception {
        var path = exchange.getRequestURI().getPath().split("/", 3);
        var order = path.length == 3 && orders.containsKey(path[2]) ? path[2] : "";
        var page = switch (exchange.getRequestMethod() + "/" + path[1] + (order.isEmpty() ? "" : "/")) {
            case "GET/" -> "<h1>A jar of honey</h1><p>390 KGS</p><form method='post' action='/buy'><button>Buy</button></form>";
            case "POST/buy" -> buy("order-" + UUID.randomUUID().toString().substring(24));
            case "GET/orders/" -> "<meta http-equiv='refresh' content='3'>Order " + order + " is " + orders.get(order);
            case "POST/events" -> take(exchange.getRequestHeaders(), new String(exchange.getRequestBody().readAllBytes(), "UTF-8"));
            default -> "404";
        };
        var status = page.startsWith("<") ? 200 : page.length() == 3 ? Integer.parseInt(page) : 303;
        exchange.getResponseHeaders().set(status == 303 ? "Location" : "Content-Type", status == 303 ? page : "text/html");
        exchange.sendResponseHeaders(status, 0);
        exchange.getResponseBody().write(page.getBytes("UTF-8"));
    }

    public static void main(String[] none) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(PORT)), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", it -> {
            try { answer(it); } catch (Exception problem) { problem.printStackTrace(); it.sendResponseHeaders(500, -1); } it.close(); });
        server.start();
    }
}
