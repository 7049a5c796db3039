package dev.kassa.honey;

import dev.kassa.BlockingGateway;
import dev.kassa.MbankPayment;
import dev.kassa.PaymentException;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

// docs: begin payments
@RestController
record Payments(BlockingGateway gateway, Orders orders) {
    @PostMapping("/orders/{order}/pay")
    void pay(@PathVariable String order, @RequestParam String phone) throws Exception {
        var payment = new MbankPayment(order, phone, 390, "A jar of honey");
        orders.payments.put(order, gateway.withNote(order).createMbankPayment(payment).getPayment());
    }

    @PostMapping("/orders/{order}/code")
    void confirm(@PathVariable String order, @RequestParam String code) throws Exception {
        gateway.confirmMbankPayment(orders.payments.get(order), code);
    }

    @GetMapping("/orders/{order}")
    String state(@PathVariable String order) {
        return orders.delivered.contains(order) ? "delivered" : "waiting";
    }

    @ExceptionHandler
    ResponseEntity<String> failed(PaymentException error) {
        // It may have been charged: the worker finds out, and the payer must not pay again.
        return ResponseEntity.status(error.getPaymentMayExist() ? 202 : 422).body(error.getMessage());
    }
}
// docs: end payments
