@file:OptIn(ExperimentalComposeUiApi::class)

package dev.kassa.android.ui

import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.text.KeyboardActions
import androidx.compose.foundation.text.KeyboardOptions
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.runtime.setValue
import androidx.compose.ui.ExperimentalComposeUiApi
import androidx.compose.ui.Modifier
import androidx.compose.ui.autofill.AutofillNode
import androidx.compose.ui.autofill.AutofillType
import androidx.compose.ui.composed
import androidx.compose.ui.focus.onFocusChanged
import androidx.compose.ui.layout.boundsInWindow
import androidx.compose.ui.layout.onGloballyPositioned
import androidx.compose.ui.platform.LocalAutofill
import androidx.compose.ui.platform.LocalAutofillTree
import androidx.compose.ui.semantics.LiveRegionMode
import androidx.compose.ui.semantics.error
import androidx.compose.ui.semantics.liveRegion
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.AnnotatedString
import androidx.compose.ui.text.TextRange
import androidx.compose.ui.text.TextStyle
import androidx.compose.ui.text.input.ImeAction
import androidx.compose.ui.text.input.KeyboardCapitalization
import androidx.compose.ui.text.input.KeyboardType
import androidx.compose.ui.text.input.OffsetMapping
import androidx.compose.ui.text.input.TextFieldValue
import androidx.compose.ui.text.input.TransformedText
import androidx.compose.ui.text.input.VisualTransformation

/** What kind of field it is: its keyboard, and what the phone may fill in. */
internal class FieldKind(val keyboard: KeyboardType, val autofill: AutofillType) {
    companion object {
        val PHONE = FieldKind(KeyboardType.Phone, AutofillType.PhoneNumber)
        val CODE = FieldKind(KeyboardType.Number, AutofillType.SmsOtpCode)
        val CARD_NUMBER = FieldKind(KeyboardType.Number, AutofillType.CreditCardNumber)
        val CARD_EXPIRY = FieldKind(KeyboardType.Number, AutofillType.CreditCardExpirationDate)
        val CARD_CVC = FieldKind(KeyboardType.NumberPassword, AutofillType.CreditCardSecurityCode)
        val CARD_HOLDER = FieldKind(KeyboardType.Text, AutofillType.PersonFullName)
    }
}

/**
 * A field for text. It holds what [value] says: [onChange] is told what stands in it, and may keep another text.
 *
 * @param problem what is wrong, which is said instead of [hint]
 * @param shown how the text is shown: the same characters in the same order, with others between them
 * @param onDone what the keyboard's "done" does; its "next" moves to the next field, if there is one
 */
@Composable
internal fun Field(
    kind: FieldKind,
    label: String,
    value: String,
    onChange: (String) -> Unit,
    modifier: Modifier = Modifier,
    hint: String? = null,
    problem: String? = null,
    trailing: String? = null,
    style: TextStyle = MaterialTheme.typography.bodyLarge,
    shown: (String) -> String = { it },
    onDone: (() -> Unit)? = null,
) {
    var edited by remember { mutableStateOf(TextFieldValue(value, TextRange(value.length))) }
    val held = edited.holding(value)
    OutlinedTextField(
        held,
        {
            edited = it
            if (it.text != value) onChange(it.text)
        },
        modifier.fillMaxWidth().filledBy(kind.autofill, onChange).semantics { problem?.let { error(it) } },
        label = { Text(label) },
        suffix = trailing?.let { { Text(it, style = MaterialTheme.typography.bodyMedium) } },
        supportingText = (problem ?: hint)?.let { { Below(it, isProblem = problem != null) } },
        isError = problem != null,
        singleLine = true,
        shape = LocalCorners.current,
        textStyle = style,
        visualTransformation = remember(shown) { Drawn(shown) },
        keyboardOptions = keyboard(kind, onDone),
        keyboardActions = KeyboardActions(onDone = { onDone?.invoke() }),
    )
}

@Composable
private fun Below(text: String, isProblem: Boolean) =
    Text(text, if (isProblem) Modifier.semantics { liveRegion = LiveRegionMode.Polite } else Modifier)

private fun keyboard(kind: FieldKind, onDone: (() -> Unit)?) = KeyboardOptions(
    capitalization = if (kind.keyboard == KeyboardType.Text) KeyboardCapitalization.Words else KeyboardCapitalization.None,
    autoCorrectEnabled = false,
    keyboardType = kind.keyboard,
    imeAction = if (onDone != null) ImeAction.Done else ImeAction.Next,
)

/** The same cursor with another text. One that stood at the end stays there. */
private fun TextFieldValue.holding(held: String): TextFieldValue {
    if (text == held) return this
    val cursor = if (selection.end >= text.length) held.length else minOf(selection.end, held.length)
    return TextFieldValue(held, TextRange(cursor))
}

/** Draws a text with other characters between its own. */
private class Drawn(private val shown: (String) -> String) : VisualTransformation {
    override fun filter(text: AnnotatedString): TransformedText {
        val drawn = shown(text.text)
        return TransformedText(AnnotatedString(drawn), Places(text.text, drawn))
    }
}

private class Places(text: String, drawn: String) : OffsetMapping {
    /** Where each character is drawn, and the end. */
    private val drawnAt = buildList {
        var at = 0
        for (char in text) {
            at = drawn.indexOf(char, at)
            add(at++)
        }
        add(drawn.length)
    }

    override fun originalToTransformed(offset: Int): Int = drawnAt[offset]

    override fun transformedToOriginal(offset: Int): Int = drawnAt.indexOfFirst { it >= offset }
}

/** Offers the field to the phone's autofill. */
private fun Modifier.filledBy(type: AutofillType, onFill: (String) -> Unit): Modifier = composed {
    val fill by rememberUpdatedState(onFill)
    val node = remember(type) { AutofillNode(listOf(type), onFill = { fill(it) }) }
    val tree = LocalAutofillTree.current
    val autofill = LocalAutofill.current
    DisposableEffect(node) {
        tree += node
        onDispose { tree.children.remove(node.id) }
    }
    onGloballyPositioned { node.boundingBox = it.boundsInWindow() }.onFocusChanged {
        val isPlaced = node.boundingBox != null
        if (it.isFocused && isPlaced) autofill?.requestAutofillForNode(node)
        if (!it.isFocused && isPlaced) autofill?.cancelAutofillForNode(node)
    }
}
