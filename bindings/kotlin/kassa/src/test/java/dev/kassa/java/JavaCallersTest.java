package dev.kassa.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kassa.BlockingGateway;
import dev.kassa.BlockingPaymentGateway;
import dev.kassa.BlockingRecovery;
import dev.kassa.Card;
import dev.kassa.CardPayment;
import dev.kassa.Credentials;
import dev.kassa.Dialect;
import dev.kassa.FutureGateway;
import dev.kassa.FuturePaymentGateway;
import dev.kassa.FutureRecovery;
import dev.kassa.FutureUnfinished;
import dev.kassa.GatewayConfig;
import dev.kassa.Journal;
import dev.kassa.JournalState;
import dev.kassa.Kassa;
import dev.kassa.MbankPayment;
import dev.kassa.MegapayAccepted;
import dev.kassa.MegapayChecked;
import dev.kassa.MegapayPayment;
import dev.kassa.NextStep;
import dev.kassa.PaymentEntry;
import dev.kassa.PaymentException;
import dev.kassa.PaymentRef;
import dev.kassa.PaymentStatus;
import dev.kassa.PollPolicy;
import dev.kassa.Provider;
import dev.kassa.QrCode;
import dev.kassa.QrPayment;
import dev.kassa.Recovered;
import dev.kassa.RecoveryPolicy;
import dev.kassa.StatusReport;
import dev.kassa.Unfinished;
import dev.kassa.Verdict;
import dev.kassa.WatchReport;
import dev.kassa.support.PatienceKt;
import dev.kassa.support.SandboxProcess;
import dev.kassa.testing.FakeFault;
import dev.kassa.testing.FakeGateway;
import dev.kassa.testing.FakePlan;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A program in Java that uses everything which was made for it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JavaCallersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(PatienceKt.getPATIENCE_SECONDS());
    private static final PollPolicy QUICK = new PollPolicy(Duration.ofMillis(50), PATIENCE);

    private final SandboxProcess sandbox = new SandboxProcess();

    @AfterAll
    void stop() {
        sandbox.close();
    }

    @Test
    void cardIsChargedByAProgramThatWaits() throws Exception {
        try (BlockingGateway gateway = new BlockingGateway(sandbox.config())) {
            CardPayment payment = payment("4000000000002016");
            PaymentRef stored = PaymentRef.parse(payment.paymentRef().toString());
            NextStep next = gateway.createCardPayment(payment).getNextStep();
            assertInstanceOf(NextStep.CheckStatus.class, next);
            try (var watch = gateway.watch(stored, QUICK)) {
                List<WatchReport> reports = new ArrayList<>();
                for (WatchReport report = watch.next(); report != null; report = watch.next()) {
                    reports.add(report);
                }
                Verdict.Charged last = assertInstanceOf(Verdict.Charged.class, reports.get(reports.size() - 1));
                assertEquals(PaymentStatus.charged(), last.getReport().getStatus());
                assertEquals(last, watch.outcome());
            }
            assertTrue(gateway.check(stored).isCharged());
            try (var watch = gateway.watch(stored, QUICK)) {
                watch.cancel();
                assertNull(watch.outcome());
            }
            assertTrue(gateway.providerStatus(payment.getOrderNumber(), Provider.cards()).getStatus().isFinal());
        }
    }

    @Test
    void refusalIsCaughtByItsKind() throws Exception {
        try (BlockingGateway gateway = new BlockingGateway(sandbox.config())) {
            gateway.paymentStatus("nobody-knows-it");
            throw new AssertionError("nobody knows it");
        } catch (PaymentException.Refused refused) {
            assertEquals(false, refused.getPaymentMayExist());
            assertNotNull(refused.getMessage());
        }
    }

    @Test
    void programThatDoesNotWaitHasFutures() throws Exception {
        try (FutureGateway gateway = new FutureGateway(sandbox.config())) {
            MbankPayment payment = new MbankPayment(Kassa.newOrderNumber(), "996555000101", 250, "Two tickets");
            Verdict verdict = gateway.createMbankPayment(payment)
                    .thenCompose(created -> gateway.confirmMbankPayment(created.getPayment(), "101101"))
                    .thenCompose(confirmed -> outcomeOf(gateway, confirmed.getPayment()))
                    .join();
            assertTrue(verdict.isCharged());
            assertEquals(new BigDecimal(250), verdict.getReport().getAmount());
            assertTrue(gateway.check(payment.paymentRef()).join().isCharged());

            var qr = gateway.createQrData(new QrPayment(Kassa.somToTyiyn(new BigDecimal("99.90")))).join();
            assertTrue(QrCode.encode(qr.getPayload()).png().length > 0);

            var unknown = gateway.qrStatus("nobody-knows-it");
            Throwable cause = assertThrows(CompletionException.class, unknown::join).getCause();
            assertInstanceOf(PaymentException.Refused.class, cause);
            assertNull(gateway.closeAndWait().join());
            assertTrue(gateway.closeAndWait(Duration.ofSeconds(1)).join() && gateway.close(Duration.ZERO));
        }
    }

    @Test
    void megapayReturnsTheTotalAndCharges() throws Exception {
        FakeGateway fake = new FakeGateway();
        MegapayPayment payment = new MegapayPayment(Kassa.newOrderNumber(), new BigDecimal("250.50"), "996700000001", "17");
        MegapayChecked checked = fake.getBlocking().checkMegapay(payment);
        assertEquals(payment.getAmount().add(checked.getCommission()), checked.getTotal());
        assertTrue(checked.getPinLifetime().compareTo(Duration.ZERO) > 0);
        MegapayAccepted accepted = fake.getFuture().payByMegapay(payment, fake.getOtp()).join();
        assertTrue(fake.getBlocking().check(accepted.getPayment()).isCharged());
        // As a stub answers.
        assertNull(new MegapayChecked(payment.paymentRef()).getPinLifetime());
        assertEquals(PATIENCE, new MegapayChecked(payment.paymentRef(), null, null, PATIENCE).getPinLifetime());
        assertNull(new MegapayChecked(payment.paymentRef(), null, null, null, "0").getPinLifetime());
    }

    @Test
    void whatIsNotSetIsRefusedByItsName() throws Exception {
        try (BlockingGateway gateway = new BlockingGateway(sandbox.config())) {
            CardPayment.Builder builder = new CardPayment.Builder(card("4000000000002016"), BigDecimal.ONE);
            assertTrue(builder.toString().contains("2016") && !builder.toString().contains("000002016"), builder.toString());
            CardPayment empty = builder.build();
            PaymentException.Invalid invalid =
                    assertThrows(PaymentException.Invalid.class, () -> gateway.createCardPayment(empty));
            List<String> fields = invalid.getViolations().stream().map(violation -> violation.getField()).toList();
            assertTrue(fields.containsAll(List.of("orderNumber", "description", "currency", "ip")), fields.toString());
        }
    }

    /** A catch compiles only where the compiler is told that it may be needed. */
    @Test
    void whatIsNoTextIsCaughtWhereItIsGiven() throws PaymentException {
        String half = "secret\uD83D";
        try {
            throw new AssertionError(new Card(half, "08", 2031, "123", "Aibek Usenov"));
        } catch (PaymentException.Invalid invalid) {
            assertEquals("pan", invalid.getViolations().get(0).getField());
        }
        try {
            throw new AssertionError(new Credentials("shop", half));
        } catch (PaymentException.Invalid invalid) {
            assertEquals("password", invalid.getViolations().get(0).getField());
        }
        try {
            throw new AssertionError(dev.kassa.Proxy.url(half));
        } catch (PaymentException.Invalid invalid) {
            assertEquals("proxy", invalid.getViolations().get(0).getField());
        }
        try {
            throw new AssertionError(PaymentRef.card(half, BigDecimal.ONE, "KGS"));
        } catch (PaymentException.Invalid invalid) {
            assertEquals(-1, invalid.getMessage().indexOf("secret"));
        }
        try {
            throw new AssertionError(new MbankPayment(half, "996555000101", 250, "Two tickets").paymentRef());
        } catch (PaymentException.Invalid invalid) {
            assertEquals("orderNumber", invalid.getViolations().get(0).getField());
        }
    }

    @Test
    void settingsHaveNames() throws Exception {
        GatewayConfig.Builder builder = new GatewayConfig.Builder("https://pay.example.kg", new Credentials("shop", "secret-77"))
                .queryDeadline(Duration.ofSeconds(20))
                .queryRetries(0)
                .dialect(new Dialect())
                .userAgentSuffix("my-shop/1.2");
        assertTrue(builder.toString().contains("queryRetries=0, ") && !builder.toString().contains("secret-77"), builder.toString());
        GatewayConfig config = builder.build();
        assertEquals(Duration.ofSeconds(20), config.getQueryDeadline());
        assertEquals(Duration.ofSeconds(60), config.getPaymentDeadline());
        assertEquals(Duration.ofSeconds(10), config.getConnectTimeout());
        assertEquals(-1, config.toString().indexOf("secret-77"));
        assertEquals(0, new GatewayConfig.Builder(config).checkLuhn(true).build().getQueryRetries());
        try (BlockingGateway gateway = new BlockingGateway(config)) {
            assertEquals(gateway.toString(), gateway.withDeadline(Duration.ofSeconds(5)).toString());
        }
    }

    @Test
    void dialectsHaveNames() throws Exception {
        assertEquals(List.of("interface", "finipay"), Dialect.names());
        Dialect dialect = Dialect.named("finipay");
        assertEquals("Dialect.named(\"finipay\")", dialect.toString());
        assertEquals(dialect, Dialect.fromJson("{\"base\": \"finipay\"}"));
        assertThrows(PaymentException.Invalid.class, () -> Dialect.named("FINIPAY"));
        assertEquals("charged", dialect.explain("qr_status", "{\"code\": \"100\", \"data\": \"SUCCESSFUL\"}").getStatusMeans());
        assertFalse(dialect.advice().isEmpty());
    }

    @Test
    void referencesAreMadeByTheirKinds() throws Exception {
        PaymentRef card = PaymentRef.card("o-1", new BigDecimal("100.10"), "KGS").withGatewayNumber("g-1");
        assertEquals(new BigDecimal("100.10"), card.getAmount());
        assertEquals(new BigDecimal(250), PaymentRef.mbank("o-1", 250).getAmount());
        PaymentRef form = PaymentRef.payForm(new BigDecimal("75.50"));
        assertTrue(form.withClaimedNumber("PF-1").isClaimed() && !form.isClaimed());
        assertEquals(Provider.megaPay(), form.withClaimedNumber("PF-1", Provider.megaPay()).getProvider());
        assertEquals(new BigDecimal("99.90"), PaymentRef.qr(9990L).withTransactionId("t-1").getAmount());
        assertNull(PaymentRef.qr(null).getAmount());
    }

    @Test
    void testHasAGatewayInMemory() throws Exception {
        FakeGateway fake = new FakeGateway();
        fake.plan(new FakePlan.Charge(Duration.ofSeconds(15)));
        fake.failNext(FakeFault.noConnection());
        assertThrows(PaymentException.Unavailable.class, () -> fake.getBlocking().createCardPayment(payment("4000000000002016")));
        var created = fake.getBlocking().createCardPayment(payment("4000000000002016"));
        PaymentEntry entry = PaymentEntry.parse(created.entry().toString());
        assertEquals(fake.getPayments().get(0).getPageUrl(), entry.getPageUrl());
        assertTrue(fake.getBlocking().watch(entry.getPayment()).outcome().isCharged());
        assertEquals(Duration.ofSeconds(20), fake.getNow());
        fake.advance(Duration.ofSeconds(1));
        fake.plan(FakePlan.stayPending());
        assertInstanceOf(Verdict.Charged.class, fake.getFuture().check(entry.getPayment()).join());
        assertNull(new PaymentEntry(PaymentRef.mbank("o-1", 250), null, "0002").getPageUrl());
    }

    /** After a crash: what is unfinished is queried, delivered and finished. */
    @Test
    void journalListsWhatIsNotDoneWith(@TempDir Path folder) throws Exception {
        FakeGateway fake = new FakeGateway();
        Journal journal = Journal.open(folder);
        BlockingGateway gateway = fake.getBlocking().withJournal(journal);
        PaymentRef payment = gateway.withNote("cart 17").createCardPayment(payment("4000000000002016")).getPayment();
        fake.charge(payment.getOrderNumber());
        List<String> delivered = new ArrayList<>();
        for (Unfinished item : gateway.unfinished()) {
            if (item instanceof Unfinished.Payment unfinished && gateway.check(unfinished.getEntry().getPayment()).isCharged()) {
                delivered.add(unfinished.getEntry().getNote());
                assertEquals(List.of(JournalState.CHARGED), statesOf(fake.getFuture().withJournal(journal).unfinished()));
                gateway.finish(unfinished.getEntry());
            }
        }
        assertEquals(List.of("cart 17"), delivered);
        assertEquals(List.of(), statesOf(fake.getFuture().withJournal(journal).unfinished()));
        journal.prune(Duration.ofDays(365));
        assertEquals(JournalState.CHARGED, gateway.getJournal().entry(payment).getState());
        try (BlockingGateway another = new BlockingGateway(sandbox.config(), journal)) {
            assertThrows(PaymentException.Invalid.class, () -> another.finish("no entry"));
        }
    }

    @Test
    void whatIsUnfinishedIsRecovered(@TempDir Path folder) throws Exception {
        FakeGateway fake = new FakeGateway();
        Journal journal = Journal.open(folder);
        BlockingGateway gateway = fake.getBlocking().withJournal(journal);
        fake.plan(new FakePlan.Charge(Duration.ofSeconds(45)));
        gateway.withNote("cart 17").createCardPayment(payment("4000000000002016"));
        gateway.withNote("cart 18").createCardPayment(payment("4000000000002016"));
        List<String> delivered = new ArrayList<>();
        try (BlockingRecovery recovery = gateway.recover(new RecoveryPolicy(Duration.ofSeconds(10), Duration.ofMinutes(20), 1))) {
            for (Recovered recovered : recovery) {
                if (recovered instanceof Recovered.Payment payment && payment.getEntry().getState() == JournalState.CHARGED) {
                    delivered.add(payment.getEntry().getNote());
                    gateway.finish(payment.getEntry());
                    break;
                }
            }
        }
        try (FutureRecovery recovery = fake.getFuture().withJournal(journal).recover()) {
            for (Recovered recovered = recovery.nextRecovered().join(); recovered != null; recovered = recovery.nextRecovered().join()) {
                delivered.add(((Recovered.Payment) recovered).getEntry().getNote());
            }
        }
        assertEquals(Set.of("cart 17", "cart 18"), Set.copyOf(delivered));
        assertEquals(2, delivered.size());
    }

    @Test
    void whatIsUnfinishedIsDelivered(@TempDir Path folder) throws Exception {
        FakeGateway fake = new FakeGateway();
        Journal journal = Journal.open(folder);
        BlockingGateway gateway = fake.getBlocking().withJournal(journal);
        List<String> delivered = new ArrayList<>();
        fake.plan(new FakePlan.Charge(Duration.ofSeconds(5)));
        gateway.withNote("cart 17").createCardPayment(payment("4000000000002016"));
        RecoveryPolicy policy = new RecoveryPolicy(Duration.ofSeconds(10), Duration.ofSeconds(15));
        assertEquals(1, gateway.deliverUnfinished(policy, entry -> delivered.add(entry.getNote())).getDelivered());
        gateway.withNote("cart 18").createCardPayment(payment("4000000000002016"));
        var summary = fake.getFuture().withJournal(journal).deliverUnfinished(entry -> delivered.add(entry.getNote())).join();
        assertEquals(List.of(), summary.getLeftOpen());
        assertEquals(List.of("cart 17", "cart 18"), delivered);
    }

    @Test
    void workerFollowsWhatIsBegunLater(@TempDir Path folder) throws Exception {
        FakeGateway fake = new FakeGateway();
        Journal journal = Journal.open(folder);
        BlockingGateway gateway = fake.getBlocking().withJournal(journal);
        fake.plan(new FakePlan.Charge(Duration.ZERO));
        RecoveryPolicy policy = new RecoveryPolicy(Duration.ofSeconds(10), Duration.ofDays(10_000), 8, true);
        assertTrue(policy.getFollowNew());
        try (BlockingRecovery recovery = gateway.recover(policy)) {
            for (String note : List.of("cart 17", "cart 18")) {
                PaymentRef payment = gateway.withNote(note).createCardPayment(payment("4000000000002016")).getPayment();
                Recovered.Payment recovered = (Recovered.Payment) recovery.nextRecovered();
                assertEquals(note, recovered.getEntry().getNote());
                gateway.finish(recovered.getEntry());
                assertTrue(journal.entry(payment).isFinished());
                assertEquals("STATUS", journal.entry(payment).getReason());
            }
        }
    }

    private static List<JournalState> statesOf(FutureUnfinished unfinished) {
        return unfinished.nextPage().join().stream().map(item -> ((Unfinished.Payment) item).getEntry().getState()).toList();
    }

    /** As a library that makes mocks does it; what is asked without a language, or without a policy, is asked with the default. */
    @Test
    void stubStandsInForAGateway() throws Exception {
        FakeGateway fake = new FakeGateway();
        BlockingPaymentGateway broken = stub(BlockingPaymentGateway.class, fake.getBlocking());
        assertEquals("no network", told(broken));
        PaymentRef payment = broken.createCardPayment(payment("4000000000002016")).getPayment();
        try (BlockingPaymentGateway working = fake.getBlocking()) {
            StatusReport report = working.paymentStatus(payment.getGatewayNumber());
            assertEquals(report, broken.paymentStatus(payment.getGatewayNumber()));
            broken.watch(payment).cancel();
            FuturePaymentGateway brokenFuture = stub(FuturePaymentGateway.class, fake.getFuture());
            assertEquals(report, brokenFuture.paymentStatus(payment.getGatewayNumber()).join());
            brokenFuture.watch(payment).cancel();
        }
    }

    /** A user's own code: what it may have to catch is declared by the interface. */
    private static String told(BlockingPaymentGateway gateway) throws InterruptedException {
        try {
            return gateway.check(PaymentRef.mbank("o-1", 250)).toString();
        } catch (PaymentException.Unavailable unavailable) {
            return unavailable.getDetail();
        } catch (PaymentException other) {
            return other.getMessage();
        }
    }

    private static <T> T stub(Class<T> type, T gateway) {
        Object stub = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
            if (method.getName().equals("check")) throw new PaymentException.Unavailable("no network");
            try {
                return method.invoke(gateway, arguments);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        });
        return type.cast(stub);
    }

    /** What Kotlin has as objects and durations of its own. */
    @Test
    void nothingLooksLikeKotlin() throws Exception {
        assertEquals("Cards MegaPay MBank", Provider.cards() + " " + Provider.megaPay() + " " + Provider.mBank());
        assertEquals(Provider.megaPay(), Provider.fromName("megapay"));
        assertTrue(PaymentStatus.charged().isFinal() && PaymentStatus.rejected().isFinal());
        assertEquals(400, QrCode.PNG_SIDE);
        assertEquals(Duration.ofMillis(50), QUICK.getInterval());
        assertEquals(PATIENCE, QUICK.getDeadline());
        assertEquals(Duration.ofSeconds(7), new PaymentException.Unavailable("HTTP 429", Duration.ofSeconds(7)).getRetryAfter());
        assertNull(new PaymentException.Unavailable("HTTP 503").getRetryAfter());
    }

    private static CompletableFuture<Verdict> outcomeOf(FutureGateway gateway, PaymentRef ref) {
        try {
            return gateway.watch(ref, QUICK).outcome();
        } catch (PaymentException invalid) {
            throw new CompletionException(invalid);
        }
    }

    private static CardPayment payment(String pan) throws PaymentException {
        return new CardPayment.Builder(card(pan), new BigDecimal("100.10"))
                .orderNumber(Kassa.newOrderNumber())
                .description("Two tickets")
                .currency("KGS")
                .language("en")
                .callbackUrl("http://127.0.0.1:9/callback")
                .ip("203.0.113.7")
                .build();
    }

    private static Card card(String pan) throws PaymentException {
        return new Card(pan, "08", 2031, "123", "Aibek Usenov");
    }
}
