package dev.kassa.android.ui

import dev.kassa.Language
import java.math.BigDecimal
import java.math.RoundingMode

private const val GROUP = 3

/** An amount is not broken over two lines. */
private const val NO_BREAK = '\u00a0'

/** An amount with its currency, as people write it in a language: `390,50 сом`, `1,000 som`. */
internal fun money(amount: BigDecimal, currency: String, language: Language): String {
    val isEnglish = language == Language.ENGLISH
    val (whole, decimals) = parts(amount)
    val grouped = whole.reversed().chunked(GROUP).joinToString(if (isEnglish) "," else "$NO_BREAK").reversed()
    val point = if (isEnglish) "." else ","
    val unit = if (currency != "KGS") currency else if (isEnglish) "som" else "сом"
    return grouped + decimals?.let { point + it }.orEmpty() + NO_BREAK + unit
}

private fun parts(amount: BigDecimal): Pair<String, String?> {
    val plain = amount.stripTrailingZeros()
    if (plain.scale() <= 0) return plain.toPlainString() to null
    val text = plain.setScale(maxOf(2, plain.scale()), RoundingMode.UNNECESSARY).toPlainString()
    return text.substringBefore('.') to text.substringAfter('.')
}
