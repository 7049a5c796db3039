package dev.kassa.java;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is internal in Kotlin cannot be called from Java. */
class HiddenTest {
    @TempDir
    Path folder;

    @Test
    void nothingInternalCompiles() {
        for (String statement : List.of(
                "new dev.kassa.internal.PaymentRef(null, null, null, null, null, null, null, null, false);",
                "dev.kassa.internal.KassaKt.newOrderNumber();",
                "dev.kassa.internal.Dialect.Companion.fromJson(\"{}\");",
                "dev.kassa.internal.UniffiLib.INSTANCE.hashCode();",
                "dev.kassa.Library.INSTANCE.load();",
                "dev.kassa.AnswersKt.toKassa(null);",
                "dev.kassa.testing.FakePaymentKt.toKassa(null);",
                "new dev.kassa.InternalException(\"a defect\");",
                "card.getCore$kassa();")) {
            List<String> problems = problems(statement);
            assertEquals(1, problems.size(), statement + problems);
            assertTrue(problems.get(0).contains("cannot find symbol"), statement + problems);
        }
    }

    @Test
    void restDoes() {
        assertEquals(List.of(), problems("dev.kassa.Kassa.newOrderNumber(); card.getMaskedNumber();"));
    }

    private List<String> problems(String statement) {
        return Compiler.problems(folder, "Shop", "class Shop { void run(dev.kassa.Card card) { " + statement + " } }");
    }
}
