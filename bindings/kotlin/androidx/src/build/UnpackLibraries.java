import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Unpacks AARs, which Maven's compilers cannot read: each into a folder of its own, and all their classes, with those of the jars beside
 * them, into one. Does nothing where the same libraries were unpacked before.
 * usage: java UnpackLibraries.java FOLDER CLASSES    FOLDER has the AARs and jars in it
 */
final class UnpackLibraries {
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        Path classes = Path.of(arguments[1]);
        Path done = folder.resolve("unpacked.txt");
        List<Path> libraries = libraries(folder);
        String names = libraries.stream().map(library -> library.getFileName() + "\n").collect(Collectors.joining());
        if (Files.exists(done) && Files.isDirectory(classes) && Files.readString(done).equals(names)) return;
        delete(classes);
        for (Path library : libraries) {
            if (library.toString().endsWith(".jar")) unpack(library, classes);
            else unpackAar(library, classes);
        }
        Files.writeString(done, names);
    }

    private static List<Path> libraries(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.(aar|jar)")).sorted().toList();
        }
    }

    private static void unpackAar(Path aar, Path classes) throws IOException {
        Path own = Path.of(aar.toString().replaceFirst("\\.aar$", ""));
        delete(own);
        unpack(aar, own);
        try (Stream<Path> files = Files.walk(own, 2)) {
            for (Path jar : files.filter(file -> own.relativize(file).toString().matches("classes\\.jar|libs/.*\\.jar")).toList()) {
                unpack(jar, classes);
            }
        }
    }

    private static void unpack(Path archive, Path to) throws IOException {
        try (InputStream bytes = Files.newInputStream(archive); ZipInputStream zip = new ZipInputStream(bytes)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                if (entry.isDirectory()) continue;
                Path file = to.resolve(entry.getName()).normalize();
                if (!file.startsWith(to)) throw new IOException(archive + " has a file outside of itself: " + entry.getName());
                Files.createDirectories(file.getParent());
                Files.copy(zip, file, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) return;
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
