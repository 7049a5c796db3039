import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Stops a build without the native library or its generated code, and says which command makes them: a jar without them would fail only
 * at its first use.
 *
 * <p>usage: java RequireNative.java GENERATED RESOURCES
 */
class RequireNative {
    public static void main(String[] arguments) throws IOException {
        Path code = Path.of(arguments[0], "dev", "kassa", "internal", "kassa.kt");
        Path resources = Path.of(arguments[1]);
        if (Files.exists(code) && hasLibrary(resources)) return;
        System.err.println("There is no native library, or no generated code, in " + resources.getParent()
                + ": `make jar` builds both and the jar, `scripts/kotlin/build-native` both alone.");
        System.exit(1);
    }

    private static boolean hasLibrary(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) return false;
        try (var files = Files.walk(folder)) {
            return files.anyMatch(file -> file.getFileName().toString().matches("(lib)?kassa_native\\.(so|dylib|dll)"));
        }
    }
}
