import dev.kassa.sandbox.FaultName;
import dev.kassa.sandbox.Sandbox;

/** What must work wherever the jar is: its own program is started, asked, and gone at the end. */
class Smoke {
    public static void main(String[] arguments) {
        long pid;
        try (Sandbox sandbox = Sandbox.start()) {
            pid = sandbox.getPid();
            sandbox.getFaults().add(FaultName.RESPONSE_LOST, "order-1", 1).remove();
            if (!sandbox.ledger().isEmpty() || Sandbox.dialectJson().isEmpty()) throw new AssertionError("it is not as it should be");
        }
        if (ProcessHandle.of(pid).isPresent()) throw new AssertionError("it is still there");
        System.out.println("the sandbox starts, answers and ends");
    }
}
