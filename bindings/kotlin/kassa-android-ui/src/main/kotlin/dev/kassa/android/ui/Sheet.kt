package dev.kassa.android.ui

import androidx.compose.animation.core.animate
import androidx.compose.foundation.background
import androidx.compose.foundation.gestures.Orientation
import androidx.compose.foundation.gestures.detectTapGestures
import androidx.compose.foundation.gestures.draggable
import androidx.compose.foundation.gestures.rememberDraggableState
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.BoxScope
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.WindowInsets
import androidx.compose.foundation.layout.asPaddingValues
import androidx.compose.foundation.layout.fillMaxSize
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.ime
import androidx.compose.foundation.layout.navigationBars
import androidx.compose.foundation.layout.offset
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.size
import androidx.compose.foundation.layout.statusBarsPadding
import androidx.compose.foundation.layout.union
import androidx.compose.foundation.layout.widthIn
import androidx.compose.foundation.rememberScrollState
import androidx.compose.foundation.shape.RoundedCornerShape
import androidx.compose.foundation.verticalScroll
import androidx.compose.material3.IconButton
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableFloatStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.rememberUpdatedState
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.input.pointer.pointerInput
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.res.stringResource
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.text.style.TextOverflow
import androidx.compose.ui.unit.IntOffset
import androidx.compose.ui.unit.dp
import kotlin.math.roundToInt

private val WIDEST = 560.dp

/** So far, or so fast (a second), the sheet is pulled to close it. */
private val FAR = 120.dp
private val FAST = 800.dp

/** A sheet at the bottom of the screen. A tap beside it, a pull at its head, the cross and "back" close it. */
@Composable
internal fun Sheet(title: String?, onClose: () -> Unit, content: @Composable () -> Unit) {
    Box(Modifier.fillMaxSize()) {
        Beside(onClose)
        val pull = remember { Pull() }
        val corner = LocalSheetCorner.current
        Surface(
            Modifier.align(Alignment.BottomCenter).statusBarsPadding().widthIn(max = WIDEST).fillMaxWidth()
                .offset { IntOffset(0, pull.down.roundToInt()) },
            shape = RoundedCornerShape(topStart = corner, topEnd = corner),
        ) {
            Column {
                Head(title, pull, onClose)
                val below = WindowInsets.ime.union(WindowInsets.navigationBars).asPaddingValues()
                Column(Modifier.verticalScroll(rememberScrollState()).padding(below)) { content() }
            }
        }
    }
}

/** How far the sheet is pulled down. */
private class Pull {
    var down by mutableFloatStateOf(0f)

    fun by(delta: Float) {
        down = maxOf(0f, down + delta)
    }

    suspend fun backUp() = animate(down, 0f) { value, _ -> down = value }
}

@Composable
private fun BoxScope.Beside(onClose: () -> Unit) {
    val close by rememberUpdatedState(onClose)
    // It is no button to a screen reader, which has the cross.
    Box(
        Modifier.matchParentSize().background(Color.Black.copy(alpha = 0.5f))
            .pointerInput(Unit) { detectTapGestures { close() } },
    )
}

@Composable
private fun Head(title: String?, pull: Pull, onClose: () -> Unit) {
    val density = LocalDensity.current
    val dragging = rememberDraggableState(pull::by)
    Row(
        Modifier.fillMaxWidth().padding(start = 24.dp, end = 8.dp, top = 8.dp).draggable(
            dragging,
            Orientation.Vertical,
            onDragStopped = { speed ->
                val isClosed = with(density) { pull.down > FAR.toPx() || (pull.down > 0f && speed > FAST.toPx()) }
                if (isClosed) onClose() else pull.backUp()
            },
        ),
        verticalAlignment = Alignment.CenterVertically,
    ) {
        Text(
            title ?: stringResource(R.string.kassa_pay),
            Modifier.weight(1f).padding(vertical = 8.dp),
            fontWeight = FontWeight.SemiBold,
            maxLines = 2,
            overflow = TextOverflow.Ellipsis,
            style = MaterialTheme.typography.titleMedium,
        )
        val close = stringResource(R.string.kassa_close)
        IconButton(onClose, Modifier.size(48.dp).semantics { contentDescription = close }) { Cross() }
    }
}
