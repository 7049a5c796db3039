import Foundation
import Kassa

/// The line of JSON for programs: the last one, and the only one on standard output. Amounts are texts, so that no reader rounds them.
enum Output {
    /// Prints the line.
    static func print(_ command: String, _ exitCode: Int32, _ body: [String: JSON]) {
        let common: [String: JSON] = [
            "command": .string(command), "ok": .bool(exitCode == ExitCode.asExpected), "exit_code": .int(Int(exitCode)),
        ]
        // A reader that has gone away misses nothing that can be helped here.
        try? FileHandle.standardOutput.write(contentsOf: Data("\(JSON.object(body.merging(common) { $1 }).text)\n".utf8))
    }

    /// What came of a payment.
    static func report(_ report: Report) -> [String: JSON] {
        [
            "flow": .string(report.flow), "reference": .string(report.reference), "order_number": JSON(report.order),
            "payment": .string("\(report.payment)"), "outcome": .string(report.outcome.rawValue),
            "answer": report.answer ?? .null, "status": report.status.map(status) ?? .null,
            "error": report.error.map(error) ?? .null, "watch_error": report.watchError.map(error) ?? .null,
            "callbacks": JSON(report.callbacks.map(callback)), "seconds": .double(report.elapsed.inSeconds),
        ]
    }

    /// A callback that came in.
    static func callback(_ seen: SeenCallback) -> JSON {
        [
            "order_number": .string(seen.orderNumber), "status": .string(seen.status), "amount": .string("\(seen.amount)"),
            "verdict": .string(seen.verdict.rawValue), "fields": JSON(seen.fields.map(JSON.string)),
        ]
    }

    /// Why a command could not do its work: the kind of the error, its fields, what it means for the money, and a sentence.
    static func error(_ error: any Error) -> JSON {
        let payment = error as? PaymentError
        var fields = payment.map(self.fields) ?? [:]
        fields["http_status"] = payment?.httpStatus.map(JSON.int) ?? .null
        fields["code"] = JSON(payment?.code)
        fields["body"] = JSON(payment?.body)
        fields["kind"] = .string(error.kind)
        // A defect says nothing about the money, so it may have moved.
        fields["payment_may_exist"] = .bool(payment?.paymentMayExist ?? (error is InternalError))
        fields["retryable"] = .bool(payment?.isRetryable ?? false)
        fields["describe"] = .string(error.localizedDescription)
        return .object(fields)
    }

    private static func fields(of error: PaymentError) -> [String: JSON] {
        switch error {
        case .invalid(let violations):
            let violations = violations.map { violation -> JSON in
                [
                    "field": .string(violation.field), "rule": .string("\(violation.rule)"), "limit": JSON(violation.limit),
                    "text": .string(violation.text),
                ]
            }
            return ["violations": JSON(violations)]
        case .misconfigured(let detail, _, _, _), .unauthorized(let detail, _, _, _), .unexpected(let detail, _, _, _):
            return ["detail": .string(detail)]
        case .unavailable(let detail, let retryAfter, _, _, _):
            return ["detail": .string(detail), "retry_after_seconds": retryAfter.map { .int(Int($0.components.seconds)) } ?? .null]
        case .refused(_, _, let reason, _):
            return ["reason": JSON(reason)]
        case .outcomeUnknown(let payment, _, _, let reason, let detail, _):
            return ["payment": .string("\(payment)"), "reason": JSON(reason), "detail": .string(detail)]
        case .deadlineExpired(let last):
            return ["last": last.map(status) ?? .null]
        }
    }

    /// A status as the gateway reports it.
    static func status(_ report: StatusReport) -> JSON {
        [
            "status": .string("\(report.status)"), "is_final": .bool(report.status.isFinal), "code": JSON(report.code),
            "reason": JSON(report.reason), "order_number": JSON(report.orderNumber), "amount": JSON(report.amount.map { "\($0)" }),
            "currency": JSON(report.currency), "raw": .string(report.raw),
        ]
    }

    static func answer(_ created: CardPaymentCreated) -> JSON {
        let nextStep: JSON =
            switch created.nextStep {
            case .openConfirmation(let url): ["kind": "OpenConfirmation", "url": .string(url.absoluteString)]
            case .askStatus(let status): ["kind": "AskStatus", "status": JSON(status)]
            }
        return [
            "payment": .string("\(created.payment)"), "next_step": nextStep, "code": JSON(created.code),
            "amount": JSON(created.amount.map { "\($0)" }), "currency": JSON(created.currency), "raw": .string(created.raw),
        ]
    }

    static func answer(_ created: MbankPaymentCreated) -> JSON {
        [
            "payment": .string("\(created.payment)"), "code": JSON(created.code), "reason": JSON(created.reason),
            "raw": .string(created.raw),
        ]
    }

    static func answer(_ reply: MbankConfirmed) -> JSON {
        [
            "payment": .string("\(reply.payment)"), "code": JSON(reply.code), "reason": JSON(reply.reason),
            "status": JSON(reply.status), "raw": .string(reply.raw),
        ]
    }

    static func answer(_ created: PayFormCreated) -> JSON {
        [
            "payment": .string("\(created.payment)"), "pay_form_url": .string(created.payFormURL.absoluteString),
            "raw": .string(created.raw),
        ]
    }

    static func answer(_ data: QrData) -> JSON {
        [
            "payment": .string("\(data.payment)"), "payload": JSON(data.payload),
            "transaction_id": JSON(data.transactionID), "raw": .string(data.raw),
        ]
    }

    /// The picture of a QR code: where it is, not what is in it.
    static func answer(_ image: QrImage, in file: String) -> JSON {
        ["payment": .string("\(image.payment)"), "file": .string(file), "bytes": .int(image.png.count)]
    }
}
