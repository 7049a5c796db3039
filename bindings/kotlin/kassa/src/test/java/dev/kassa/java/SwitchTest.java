package dev.kassa.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pattern matching for switch, of Java 21 (in Java 17 a preview): over a sealed type it needs no default. */
class SwitchTest {
    private static final String SOURCE = """
            import dev.kassa.*;

            class Shop {
                static String tell(PaymentException error) {
                    return switch (error) {
                        case PaymentException.Invalid invalid -> "fix " + invalid.getViolations();
                        case PaymentException.Misconfigured wrong -> wrong.getDetail();
                        case PaymentException.Unauthorized wrong -> wrong.getDetail();
                        case PaymentException.Unavailable later -> "again in " + later.getRetryAfter();
                        case PaymentException.Refused refused -> refused.getReason();
                        case PaymentException.OutcomeUnknown unknown -> "watch " + unknown.getPayment();
                        case PaymentException.Unexpected odd -> odd.getBody();
                        case PaymentException.DeadlineExpired open -> "watch on: " + open.getLast();
                    };
                }

                static boolean isPaid(PaymentStatus status) {
                    return switch (status) {
                        case PaymentStatus.Charged charged -> true;
                        case PaymentStatus.Rejected rejected -> false;
                        case PaymentStatus.Other other -> throw new IllegalStateException(other.getWord());
                    };
                }

                static String decide(Verdict verdict) {
                    return switch (verdict) {
                        case Verdict.Charged charged -> "ship " + charged.getPayment() + charged.getCompared();
                        case Verdict.Rejected rejected -> rejected.getReport().getReason();
                        case Verdict.Pending open -> "watch " + open.getPayment();
                        case Verdict.Mismatch mismatch -> "look at " + mismatch.getFields();
                        case Verdict.Unverifiable unverifiable -> unverifiable.getWhy();
                    };
                }

                static String tell(WatchReport report) {
                    return switch (report) {
                        case Verdict verdict -> decide(verdict);
                        case QueryFailed failed -> tell(failed.getError());
                    };
                }

                static Object show(CheckoutState state) {
                    return switch (state) {
                        case CheckoutState.Opening opening -> opening.getMessage();
                        case CheckoutState.Ready ready -> ready.getMethods();
                        case CheckoutState.Sending sending -> sending.getMessage();
                        case CheckoutState.EnterOtp enter -> enter.getAttemptsLeft();
                        case CheckoutState.OpenPage page -> page.getBegunHere() ? page.getUrl() : page.getMethods();
                        case CheckoutState.ShowQr qr -> qr.getText();
                        case CheckoutState.Waiting waiting -> waiting.getPageUrl();
                        case CheckoutState.Paid paid -> paid.getAmount() + paid.getCurrency();
                        case CheckoutState.NotPaid not -> not.getReason().textIn(Language.RUSSIAN);
                        case CheckoutState.PersonNeeded needed -> needed.getMessage().getTopic();
                        case CheckoutState.Expired expired -> expired;
                        case CheckoutState.TokenExpired expired -> expired;
                    };
                }

                static Object next(NextStep step) {
                    return switch (step) {
                        case NextStep.OpenConfirmation page -> page.getUrl();
                        case NextStep.CheckStatus ask -> ask.getStatus();
                    };
                }
            }
            """;

    @TempDir
    Path folder;

    @Test
    void switchOverEveryKindIsComplete() {
        assertEquals(List.of(), problems(SOURCE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"OutcomeUnknown", "Mismatch", "QueryFailed", "PersonNeeded"})
    void aKindThatIsForgottenIsFoundByTheCompiler(String kind) {
        String source = SOURCE.lines().filter(line -> !line.contains(kind)).reduce("", (all, line) -> all + line + "\n");
        List<String> problems = problems(source);
        assertEquals(1, problems.size(), problems.toString());
        assertTrue(problems.get(0).contains("does not cover all possible input values"), problems.toString());
    }

    private List<String> problems(String source) {
        return Compiler.problems(folder, "Shop", source);
    }
}
