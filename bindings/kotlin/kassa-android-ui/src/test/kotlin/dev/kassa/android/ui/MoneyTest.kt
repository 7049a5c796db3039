package dev.kassa.android.ui

import dev.kassa.Language
import org.junit.Assert.assertEquals
import org.junit.Test

class MoneyTest {
    @Test
    fun `amounts are written as people do`() {
        val amounts = mapOf(
            "390" to ("390 som" to "390 сом"),
            "390.00" to ("390 som" to "390 сом"),
            "390.5" to ("390.50 som" to "390,50 сом"),
            "1000" to ("1,000 som" to "1 000 сом"),
            "12345678.09" to ("12,345,678.09 som" to "12 345 678,09 сом"),
        )
        for ((amount, texts) in amounts) {
            val written = { language: Language -> money(amount.toBigDecimal(), "KGS", language).replace('\u00a0', ' ') }
            assertEquals(texts.first, written(Language.ENGLISH))
            assertEquals(texts.second, written(Language.RUSSIAN))
            assertEquals(texts.second, written(Language.KYRGYZ))
        }
        assertEquals("7\u00a0USD", money(7.toBigDecimal(), "USD", Language.RUSSIAN))
    }
}
