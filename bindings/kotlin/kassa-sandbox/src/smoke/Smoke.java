import dev.kassa.sandbox.FaultName;
import dev.kassa.sandbox.Sandbox;
import java.nio.file.Path;
import java.util.List;

/** What must work wherever the jar is: its own program is started, asked, and gone at the end. */
class Smoke {
    public static void main(String[] arguments) throws Exception {
        long pid;
        try (Sandbox sandbox = Sandbox.start()) {
            pid = sandbox.getPid();
            sandbox.getFaults().add(FaultName.RESPONSE_LOST, "order-1", 1).remove();
            if (!sandbox.ledger().isEmpty() || Sandbox.dialectJson().isEmpty()) throw new AssertionError("it is not as it should be");
        }
        if (ProcessHandle.of(pid).isPresent()) throw new AssertionError("it is still there");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = List.of(java, "-cp", System.getProperty("java.class.path"), "dev.kassa.sandbox.Main", "--version");
        var program = new ProcessBuilder(command).redirectErrorStream(true).start();
        String version = new String(program.getInputStream().readAllBytes()).strip();
        if (program.waitFor() != 0 || !version.startsWith("kassa-sandbox ")) throw new AssertionError("not the program: " + version);
        System.out.println("the sandbox starts, answers and ends");
    }
}
