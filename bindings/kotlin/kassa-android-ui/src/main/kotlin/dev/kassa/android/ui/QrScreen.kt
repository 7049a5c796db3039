package dev.kassa.android.ui

import androidx.compose.foundation.Canvas
import androidx.compose.foundation.background
import androidx.compose.foundation.layout.BoxWithConstraints
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.size
import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.geometry.Offset
import androidx.compose.ui.geometry.Size
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.drawscope.DrawScope
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.role
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.unit.dp
import dev.kassa.BankLink
import dev.kassa.CheckoutState
import dev.kassa.QrCode

private val WIDEST = 296.dp

/** White round the code, in modules: scanners want it, in the dark too. */
private const val BORDER = 4

private const val SAVED_PIXELS = 800

/** A code for a bank's app to scan; on the payer's own phone a button opens that app if the code is a link or ELQR. */
@Composable
internal fun QrScreen(state: CheckoutState.ShowQr, said: StateTexts, actions: Actions, device: Device) {
    val labels = LocalLabels.current
    DisposableEffect(device) {
        device.brighten(true)
        onDispose { device.brighten(false) }
    }
    val code = remember(state.text) { codeOf(state.text) }
    val banks = remember(state.text) { bankLinksOf(state.text) }
    Screen(said) {
        code?.let { Picture(it) }
        when {
            banks.isNotEmpty() -> OpenBank(banks, device)
            isLink(state.text) -> OpenApp(state.text, device)
        }
        code?.let { SavePicture(it, device) }
        PlainButton(labels.havePaid, actions::checkNow)
        if (state.canChangeMethod) {
            QuietButton(labels.otherWay, actions::changeMethod)
            Note(labels.otherThanCodeHint)
        }
    }
}

@Composable
private fun OpenApp(link: String, device: Device) {
    val labels = LocalLabels.current
    var isMissing by remember(link) { mutableStateOf(false) }
    MainButton(labels.openBankApp) { isMissing = !device.openApp(link) }
    if (isMissing) Told(labels.noBankApp)
}

/** The first link is for any bank. */
@Composable
private fun OpenBank(banks: List<BankLink>, device: Device) {
    val labels = LocalLabels.current
    var isMissing by remember(banks) { mutableStateOf(false) }
    var areNamed by remember(banks) { mutableStateOf(false) }
    val open = { bank: BankLink -> isMissing = !device.openBank(bank.url.toString()) }
    MainButton(labels.openBankApp) { open(banks.first()) }
    if (isMissing) Told(labels.noBankApp)
    PlainButton(labels.chooseBank) { areNamed = !areNamed }
    if (areNamed) banks.drop(1).forEach { bank -> QuietButton(bank.bank) { open(bank) } }
}

@Composable
private fun SavePicture(code: QrCode, device: Device) {
    val labels = LocalLabels.current
    var isSaved by remember(code) { mutableStateOf<Boolean?>(null) }
    PlainButton(labels.savePicture) { device.savePicture(code.png(SAVED_PIXELS)) { isSaved = it } }
    isSaved?.let { Told(if (it) labels.pictureSaved else labels.pictureNotSaved) }
}

/** Each module is the same whole number of pixels wide: between others there would be hairlines. */
@Composable
private fun Picture(code: QrCode) {
    val modules = remember(code) { code.modules() }
    val label = LocalLabels.current.qrPicture
    BoxWithConstraints(Modifier.fillMaxWidth(), Alignment.Center) {
        val side = with(LocalDensity.current) {
            val cells = modules.size + 2 * BORDER
            val pixels = minOf(maxWidth, WIDEST).toPx().toInt() / cells * cells
            pixels.toDp()
        }
        Canvas(
            Modifier.size(side).background(Color.White).semantics {
                contentDescription = label
                role = Role.Image
            },
        ) { draw(modules) }
    }
}

private fun DrawScope.draw(modules: List<List<Boolean>>) {
    val cell = (size.width.toInt() / (modules.size + 2 * BORDER)).toFloat()
    modules.forEachIndexed { y, row ->
        row.forEachIndexed { x, isDark ->
            if (isDark) drawRect(Color.Black, Offset((x + BORDER) * cell, (y + BORDER) * cell), Size(cell, cell))
        }
    }
}
