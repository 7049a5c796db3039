package dev.kassa.android.ui

import androidx.compose.foundation.BorderStroke
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.ColumnScope
import androidx.compose.foundation.layout.PaddingValues
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.offset
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.material3.Button
import androidx.compose.material3.ButtonDefaults
import androidx.compose.material3.IconButton
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedButton
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.heading
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.paneTitle
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.text.style.TextAlign
import androidx.compose.ui.unit.dp

private val BUTTON_PADDING = PaddingValues(horizontal = 16.dp, vertical = 12.dp)
private val BUTTON_HEIGHT = 52.dp

/** A state's screen. */
@Composable
internal fun Screen(said: StateTexts, mark: (@Composable () -> Unit)? = null, content: @Composable ColumnScope.() -> Unit) =
    Screen(said.texts.title, mark, said.notice, said.texts.explanation, content = content)

/**
 * A mark, what it is called, a message, if any, what it means, and what can be done. A screen reader says when the title changes.
 *
 * @param isExplanationTold whether a screen reader says also when the explanation changes
 */
@Composable
internal fun Screen(
    title: String,
    mark: (@Composable () -> Unit)? = null,
    notice: Notice? = null,
    explanation: String? = null,
    onBack: (() -> Unit)? = null,
    isExplanationTold: Boolean = false,
    content: @Composable ColumnScope.() -> Unit,
) {
    Column(
        Modifier.fillMaxWidth().padding(24.dp).semantics { paneTitle = title },
        verticalArrangement = Arrangement.spacedBy(16.dp),
    ) {
        mark?.invoke()
        if (onBack == null) Title(title) else TitleWithWayBack(title, onBack)
        if (notice != null) Banner(notice)
        when {
            explanation == null -> Unit
            isExplanationTold -> Told(explanation)
            else -> Say(explanation)
        }
        content()
    }
}

@Composable
private fun Title(title: String) = Text(
    title,
    Modifier.semantics { heading() },
    fontWeight = FontWeight.SemiBold,
    style = MaterialTheme.typography.titleLarge,
)

@Composable
private fun TitleWithWayBack(title: String, onBack: () -> Unit) {
    // The arrow stands where other screens begin, and not its larger target.
    Row(Modifier.offset(x = (-12).dp), verticalAlignment = Alignment.CenterVertically) {
        val back = LocalLabels.current.back
        IconButton(onBack, Modifier.size(48.dp).semantics { contentDescription = back }) { Arrow() }
        Title(title)
    }
}

@Composable
internal fun Say(text: String, modifier: Modifier = Modifier) = Text(text, modifier, style = MaterialTheme.typography.bodyLarge)

/** The total that the payer agrees to, in larger text above the code field. Announced by screen readers. */
@Composable
internal fun Cost(text: String) = Text(
    text,
    Modifier.semantics { liveRegion = LiveRegionMode.Polite },
    fontWeight = FontWeight.SemiBold,
    style = MaterialTheme.typography.titleMedium,
)

/** What belongs to the button above it. */
@Composable
internal fun Note(text: String) =
    Text(text, color = MaterialTheme.colorScheme.onSurfaceVariant, style = MaterialTheme.typography.bodyMedium)

/** Something that came of what the payer did: a screen reader says it at once. */
@Composable
internal fun Told(text: String) = Say(text, Modifier.semantics { liveRegion = LiveRegionMode.Polite })

/** A message beside a state. */
@Composable
internal fun Banner(notice: Notice) {
    val colours = MaterialTheme.colorScheme
    Surface(
        Modifier.fillMaxWidth().semantics(mergeDescendants = true) { liveRegion = LiveRegionMode.Polite },
        shape = LocalCorners.current,
        color = if (notice.isCalm) colours.secondaryContainer else colours.errorContainer,
        contentColor = if (notice.isCalm) colours.onSecondaryContainer else colours.onErrorContainer,
    ) {
        Column(Modifier.padding(16.dp, 12.dp), verticalArrangement = Arrangement.spacedBy(4.dp)) {
            Text(notice.text, style = MaterialTheme.typography.bodyLarge)
            notice.reason?.let { Text(it, style = MaterialTheme.typography.bodyMedium) }
        }
    }
}

@Composable
internal fun MainButton(text: String, enabled: Boolean = true, onClick: () -> Unit) {
    val colours = LocalButtonColours.current
    Button(
        onClick,
        Modifier.fillMaxWidth().heightIn(min = BUTTON_HEIGHT),
        enabled,
        shape = LocalCorners.current,
        colors = ButtonDefaults.buttonColors(containerColor = colours.ground, contentColor = colours.text),
        contentPadding = BUTTON_PADDING,
    ) { ButtonText(text) }
}

@Composable
internal fun PlainButton(text: String, onClick: () -> Unit) = OutlinedButton(
    onClick,
    Modifier.fillMaxWidth().heightIn(min = BUTTON_HEIGHT),
    shape = LocalCorners.current,
    border = BorderStroke(1.dp, MaterialTheme.colorScheme.outline),
    colors = ButtonDefaults.outlinedButtonColors(contentColor = MaterialTheme.colorScheme.onSurface),
    contentPadding = BUTTON_PADDING,
) { ButtonText(text) }

/** What few payers need. */
@Composable
internal fun QuietButton(text: String, onClick: () -> Unit) = TextButton(
    onClick,
    Modifier.fillMaxWidth().heightIn(min = BUTTON_HEIGHT),
    shape = LocalCorners.current,
    colors = ButtonDefaults.textButtonColors(contentColor = MaterialTheme.colorScheme.onSurface),
    contentPadding = BUTTON_PADDING,
) { ButtonText(text) }

@Composable
private fun ButtonText(text: String) =
    Text(text, textAlign = TextAlign.Center, fontWeight = FontWeight.SemiBold, style = MaterialTheme.typography.bodyLarge)
