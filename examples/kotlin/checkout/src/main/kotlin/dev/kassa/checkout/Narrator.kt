package dev.kassa.checkout

import com.github.ajalt.mordant.rendering.BorderType
import com.github.ajalt.mordant.rendering.OverflowWrap
import com.github.ajalt.mordant.rendering.TextAlign
import com.github.ajalt.mordant.rendering.TextColors.black
import com.github.ajalt.mordant.rendering.TextColors.brightGreen
import com.github.ajalt.mordant.rendering.TextColors.brightRed
import com.github.ajalt.mordant.rendering.TextColors.brightWhite
import com.github.ajalt.mordant.rendering.TextColors.brightYellow
import com.github.ajalt.mordant.rendering.TextColors.cyan
import com.github.ajalt.mordant.rendering.TextStyle
import com.github.ajalt.mordant.rendering.TextStyles.bold
import com.github.ajalt.mordant.table.Borders
import com.github.ajalt.mordant.table.table
import com.github.ajalt.mordant.terminal.Terminal
import dev.kassa.QrCode

private const val LABEL_WIDTH = 9

/** Wide enough that no order number is broken where nobody says how wide it is. */
private const val TABLE_WIDTH = 200

/** Tells a person what happens, in short lines with a label in front; on standard error where the other is kept for JSON. */
class Narrator(private val toStderr: Boolean, private val about: String? = null) {
    private val terminal = Terminal(nonInteractiveWidth = TABLE_WIDTH)

    /** The same narrator, telling about one of several payments. */
    fun about(subject: String) = Narrator(toStderr, subject)

    /** A title, with an empty line before it. */
    fun title(text: String) = print("\n${bold(text)}")

    /** One step: who does it, and what. */
    fun step(label: String, text: String) = labelled(label, text, cyan)

    /** A step that deserves a second look. */
    fun warn(label: String, text: String) = labelled(label, text, brightYellow)

    /** The end of a flow. */
    fun end(exitCode: Int, text: String) = when (exitCode) {
        AS_EXPECTED -> labelled("done", text, brightGreen)
        NOT_KNOWN -> labelled("open", text, brightYellow)
        else -> labelled("failed", text, brightRed)
    }

    /** Any text as it is. */
    fun print(text: String) = terminal.println(text, stderr = toStderr)

    /** A QR code. Light letters on dark ground, whatever the terminal's own colours are: scanners want dark on light. */
    fun draw(code: QrCode) = code.text().lineSequence().filter(String::isNotEmpty)
        .forEach { print("    ${(brightWhite on black)(it)}") }

    /** A row a payment. */
    fun table(reports: List<Report>) {
        val table = table {
            borderType = BorderType.SQUARE
            tableBorders = Borders.ALL
            overflowWrap = OverflowWrap.BREAK_WORD
            column(4) { align = TextAlign.RIGHT }
            header {
                cellBorders = Borders.ALL
                row("Flow", "Order", "What happened", "Callbacks", "Time")
            }
            body {
                cellBorders = Borders.LEFT_RIGHT
                for (it in reports) {
                    row(it.flow, visible(it.order ?: "not named"), visible(it.whatHappened), it.callbackSummary, inTime(it.elapsed))
                }
            }
        }
        print("\n${terminal.render(table)}")
    }

    private fun labelled(label: String, text: String, style: TextStyle) {
        val subject = about?.let { "$it: " }.orEmpty()
        print("  ${style(label.padEnd(LABEL_WIDTH))} ${visible("$subject$text")}")
    }
}

/** What a stranger has written, with its control characters shown as what they are: none of them gets to the terminal. */
fun visible(text: String): String = buildString {
    for (char in text) if (char.isISOControl()) append("\\u%04x".format(char.code)) else append(char)
}
