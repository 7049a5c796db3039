package dev.kassa.android.ui

import androidx.compose.foundation.Canvas
import androidx.compose.foundation.layout.size
import androidx.compose.material3.CircularProgressIndicator
import androidx.compose.material3.LocalContentColor
import androidx.compose.material3.MaterialTheme
import androidx.compose.runtime.Composable
import androidx.compose.ui.Modifier
import androidx.compose.ui.geometry.Offset
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.StrokeCap
import androidx.compose.ui.graphics.drawscope.DrawScope
import androidx.compose.ui.graphics.drawscope.Stroke
import androidx.compose.ui.semantics.clearAndSetSemantics
import androidx.compose.ui.unit.Dp
import androidx.compose.ui.unit.dp

// Small drawings beside a text that says the same: screen readers pass them over.

private val SIZE = 48.dp

/** Of a line, in parts of the drawing's side. */
private const val WIDTH = .085f

/** Points are in parts of the drawing's side. */
private val tick = listOf(Offset(.29f, .52f), Offset(.44f, .67f), Offset(.73f, .36f))
private val cross = listOf(Offset(.33f, .33f) to Offset(.67f, .67f), Offset(.67f, .33f) to Offset(.33f, .67f))

@Composable
internal fun GoodMark() = Disc(LocalGood.current) { white ->
    tick.zipWithNext().forEach { (from, to) -> line(from, to, white) }
}

@Composable
internal fun EndMark() = Disc(MaterialTheme.colorScheme.outline) { white -> cross.forEach { (from, to) -> line(from, to, white) } }

/** A person is needed. */
@Composable
internal fun PersonMark() = QuestionMark(MaterialTheme.colorScheme.error)

/** It has ended, and whether it was paid is not known here: a cross would say that it was not. */
@Composable
internal fun UnknownMark() = QuestionMark(MaterialTheme.colorScheme.outline)

@Composable
private fun QuestionMark(colour: Color) = Disc(colour) { white ->
    val stroke = Stroke(size.width * WIDTH, cap = StrokeCap.Round)
    drawArc(white, 180f, 255f, useCenter = false, Offset(.355f, .22f) * size.width, size * .29f, style = stroke)
    line(Offset(.5f, .58f), Offset(.536f, .505f), white)
    line(Offset(.5f, .75f), Offset(.5f, .76f), white)
}

@Composable
internal fun Turning() = CircularProgressIndicator(
    Modifier.size(SIZE).clearAndSetSemantics {},
    trackColor = MaterialTheme.colorScheme.outlineVariant,
)

@Composable
internal fun Cross() {
    val colour = LocalContentColor.current
    Drawing(24.dp) { cross.forEach { (from, to) -> line(from, to, colour, width = .08f) } }
}

@Composable
internal fun Arrow() {
    val colour = LocalContentColor.current
    Drawing(24.dp) {
        line(Offset(.2f, .5f), Offset(.8f, .5f), colour)
        line(Offset(.2f, .5f), Offset(.45f, .25f), colour)
        line(Offset(.2f, .5f), Offset(.45f, .75f), colour)
    }
}

@Composable
private fun Disc(colour: Color, draw: DrawScope.(Color) -> Unit) {
    val on = readableOn(colour)
    Drawing(SIZE) {
        drawCircle(colour)
        draw(on)
    }
}

@Composable
private fun Drawing(side: Dp, draw: DrawScope.() -> Unit) = Canvas(Modifier.size(side).clearAndSetSemantics {}, draw)

private fun DrawScope.line(from: Offset, to: Offset, colour: Color, width: Float = WIDTH) =
    drawLine(colour, from * size.width, to * size.width, size.width * width, StrokeCap.Round)
