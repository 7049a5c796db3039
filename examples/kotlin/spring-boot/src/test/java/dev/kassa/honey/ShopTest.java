package dev.kassa.honey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kassa.sandbox.Endpoint;
import dev.kassa.sandbox.FaultName;
import dev.kassa.sandbox.TestPhones;
import dev.kassa.server.KassaServer;
import dev.kassa.server.KassaServerOptions;
import dev.kassa.server.junit.KassaServerExtension;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

// docs: begin sandbox
/** The whole shop as a process of its own, with its settings from the environment, and the sandbox and kassa-server as they are. */
class ShopTest {
    static final int PORT = freePort();

    @RegisterExtension
    static final KassaServerExtension SERVER = new KassaServerExtension(
            new KassaServerOptions.Builder().eventsUrl("http://127.0.0.1:" + PORT + "/kassa-events").build());

    @TempDir Path folder;
    private final Browser browser = new Browser(PORT);
    private Process shop;

    @BeforeEach
    void start(KassaServer server) throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var classPath = System.getProperty("java.class.path");
        var shopClass = ShopApplication.class.getName();
        var program = new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-cp", classPath, shopClass, "--server.port=" + PORT);
        program.environment().putAll(server.getSandbox().environment()); // KASSA_URL and the others
        program.environment().putAll(server.environment()); // KASSA_SERVER_URL, KASSA_API_KEY, KASSA_EVENTS_SECRET
        program.environment().put("KASSA_JOURNAL", folder.resolve("payments").toString());
        shop = program.redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile()).start();
        waitForLog("Started ShopApplication");
    }

    @Test
    void lostAnswerIsNoFailedPayment(KassaServer server) throws Exception {
        var phone = TestPhones.MBANK_APPROVED;
        assertEquals(200, browser.post("/orders/order-1/pay?phone=" + phone.getPhone()).statusCode());
        server.getSandbox().getFaults().add(FaultName.RESPONSE_LOST, null, 1, Endpoint.MBANK_CONFIRM, null, null, null, null, null, null);
        assertEquals(202, browser.post("/orders/order-1/code?code=" + phone.getOtp()).statusCode());
        browser.waitUntilDelivered("order-1");
        assertEquals(1, server.getSandbox().payment("order-1").getTimesCharged());
    }

    @Test
    void payerPaysOnTheServersPage(KassaServer server) throws Exception {
        assertTrue(browser.post("/orders/order-2/checkout").body().startsWith(server.getUrl()));
        server.payByForm(payForm(server, "order-2"));
        browser.waitUntilDelivered("order-2"); // by the event
    }

    @AfterEach
    void end() throws Exception {
        shop.destroy(); // SIGTERM, as an operator's restart
        assertTrue(shop.waitFor(Browser.PATIENCE_SECONDS, TimeUnit.SECONDS));
        waitForLog("left open: nothing");
    }
    // docs: end sandbox

    /** Chooses the pay-form, as the payer does on the server's page. */
    private static String payForm(KassaServer server, String reference) {
        var json = new JsonMapper();
        var id = json.readTree(server.checkout(reference)).get("id").asString();
        var token = json.readTree(server.request("POST", "/v1/checkouts/" + id + "/tokens")).get("token").asString();
        var begun = server.request("POST", "/v1/checkout/payments", "{\"method\": \"pay_form\"}", token, reference);
        return json.readTree(begun).get("page_url").asString();
    }

    private void waitForLog(String words) throws Exception {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Browser.PATIENCE_SECONDS);
        String log = "";
        while (!log.contains(words)) {
            if (System.nanoTime() > until) throw new AssertionError("no \"" + words + "\" in:\n" + log);
            Thread.sleep(20);
            log = Files.readString(folder.resolve("log"));
        }
    }

    private static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
