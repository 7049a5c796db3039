package dev.kassa.android.ui

import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.graphics.Canvas
import android.graphics.Color
import android.view.View
import java.awt.image.BufferedImage
import java.awt.image.DataBuffer
import java.awt.image.IndexColorModel
import java.io.File
import javax.imageio.ImageIO
import kotlin.math.abs

/**
 * Compares what is drawn with a picture in `src/test/pictures`, pixel by pixel. Where they differ, the test fails and names the picture;
 * what was drawn, and where it differs, are in `target/pictures`. `-Dpictures=accept` writes the pictures anew: look at them then.
 */
internal object Pictures {
    /** How much a channel of a pixel may differ: less than anybody sees. */
    private const val TOLERANCE = 16

    /** As many a picture has that is kept, which makes it a third as large. */
    private const val COLOURS = 256

    private val expected = File("src/test/pictures")
    private val found = File("target/pictures")
    private val isAccepting = System.getProperty("kassa.pictures") == "accept"

    /** @param name of the picture, without `.png` */
    fun check(name: String, view: View) {
        val drawn = draw(view)
        if (isAccepting) return keep(File(expected, "$name.png"), drawn)
        val file = File(expected, "$name.png")
        val accepted = file.takeIf { it.exists() }?.let { read(it) }
        val difference = if (accepted == null) "there is no such picture" else compare(name, accepted, drawn)
        if (difference != null) {
            write(found, name, drawn)
            throw AssertionError("$file: $difference. What was drawn is ${File(found, file.name)}; accept it with -Dpictures=accept")
        }
    }

    /**
     * A picture with a palette: Android writes none, Java does. Its colours are true. Only where there are too many, at the edges of letters, the
     * rarer ones give way to those that are nearly the same.
     */
    private fun keep(file: File, bitmap: Bitmap) {
        val colours = pixels(bitmap).map { it and 0xffffff }
        val uses = colours.groupingBy { it }.eachCount()
        val byUse = uses.keys.sortedWith(compareByDescending<Int> { uses.getValue(it) }.thenBy { it })
        val palette = (0..TOLERANCE / 2).firstNotNullOfOrNull { near -> palette(byUse, near).takeIf { it.size <= COLOURS } }
        checkNotNull(palette) { "$file has ${uses.size} colours, too many for a palette" }
        val places = uses.keys.associateWith { colour -> palette.indices.minBy { distance(palette[it], colour) } }
        val model = IndexColorModel(Byte.SIZE_BITS, palette.size, palette.toIntArray(), 0, false, -1, DataBuffer.TYPE_BYTE)
        val image = BufferedImage(bitmap.width, bitmap.height, BufferedImage.TYPE_BYTE_INDEXED, model)
        image.raster.setPixels(0, 0, bitmap.width, bitmap.height, IntArray(colours.size) { places.getValue(colours[it]) })
        file.parentFile.mkdirs()
        ImageIO.write(image, "png", file)
    }

    /** The colours of which each other one is nearly the same as one, those that are used most first. */
    private fun palette(byUse: List<Int>, near: Int): List<Int> =
        byUse.fold(mutableListOf()) { chosen, colour ->
            if (chosen.none { distance(it, colour) <= near }) chosen += colour
            chosen
        }

    /** On an opaque ground: a picture that is kept knows of no other. */
    private fun draw(view: View): Bitmap = Bitmap.createBitmap(view.width, view.height, Bitmap.Config.ARGB_8888).also {
        it.eraseColor(Color.BLACK)
        view.draw(Canvas(it))
    }

    /** What is different, in words, and in a picture that shows it in red. */
    private fun compare(name: String, accepted: Bitmap, drawn: Bitmap): String? {
        if (accepted.width != drawn.width || accepted.height != drawn.height) {
            return "it is ${accepted.width} x ${accepted.height}, and what was drawn ${drawn.width} x ${drawn.height}"
        }
        val before = pixels(accepted)
        val now = pixels(drawn)
        val different = before.indices.filter { differ(before[it], now[it]) }
        if (different.isEmpty()) return null
        different.forEach { now[it] = Color.RED }
        write(found, "$name-difference", Bitmap.createBitmap(now, drawn.width, drawn.height, Bitmap.Config.ARGB_8888))
        val first = different.first()
        return "${different.size} pixels differ, the first at ${first % drawn.width}, ${first / drawn.width}"
    }

    private fun differ(one: Int, other: Int): Boolean = one != other && distance(one, other) > TOLERANCE

    /** How much the channel differs that differs most. */
    private fun distance(one: Int, other: Int): Int = (0..24 step 8).maxOf { abs((one ushr it and 0xff) - (other ushr it and 0xff)) }

    private fun pixels(bitmap: Bitmap) =
        IntArray(bitmap.width * bitmap.height).also { bitmap.getPixels(it, 0, bitmap.width, 0, 0, bitmap.width, bitmap.height) }

    private fun read(file: File): Bitmap = checkNotNull(BitmapFactory.decodeFile("$file")) { "$file is no picture" }

    private fun write(folder: File, name: String, bitmap: Bitmap) {
        folder.mkdirs()
        File(folder, "$name.png").outputStream().use { bitmap.compress(Bitmap.CompressFormat.PNG, 100, it) }
    }
}
