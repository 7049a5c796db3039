import Foundation
import Kassa
import KassaStage

/// A public type, as it is compared.
protocol Canonical {
    var canonical: JSON { get }
}

extension Optional: Canonical where Wrapped: Canonical {
    var canonical: JSON { map(\.canonical) ?? .null }
}

extension Array: Canonical where Element: Canonical {
    var canonical: JSON { .array(map(\.canonical)) }
}

extension Decimal: Canonical {
    var canonical: JSON { ["$decimal": .string(description)] }
}

extension String: Canonical {
    var canonical: JSON { .string(self) }
}

extension Int: Canonical {
    var canonical: JSON { JSON(self) }
}

extension Bool: Canonical {
    var canonical: JSON { .bool(self) }
}

extension Provider: Canonical {
    var canonical: JSON {
        switch self {
        case .cards: "cards"
        case .megaPay: "mega_pay"
        case .mbank: "mbank"
        case .other(let name): ["kind": "other", "name": .string(name)]
        }
    }
}

extension PaymentRef: Canonical {
    var canonical: JSON {
        [
            "kind": .string(kind.rawValue), "order_number": JSON(orderNumber), "gateway_number": JSON(gatewayNumber),
            "provider": provider.canonical, "transaction_id": JSON(transactionID), "confirm_identifier": JSON(confirmIdentifier),
            "amount": amount.canonical, "currency": JSON(currency), "is_claimed": isClaimed ? JSON.bool(true) : .null,
            "entry_id": JSON(entryID), "transaction_from_code": transactionFromCode ? JSON.bool(true) : .null,
        ]
    }
}

extension PaymentEntry: Canonical {
    var canonical: JSON { ["payment": payment.canonical, "page_url": JSON(pageURL), "qr_text": JSON(qrText)] }
}

extension JournalEntry: Canonical {
    var canonical: JSON {
        [
            "id": .string(id), "payment": payment.canonical, "begun_ms": JSON(Int((begun.timeIntervalSince1970 * 1000).rounded())),
            "state": .string(state.rawValue), "is_finished": isFinished ? .bool(true) : .null, "reason": JSON(reason), "code": JSON(code),
            "page_url": JSON(pageURL), "qr_text": JSON(qrText), "note": JSON(note),
        ]
    }
}

extension Unfinished: Canonical {
    var canonical: JSON {
        switch self {
        case .payment(let entry): ["kind": "payment", "entry": entry.canonical]
        case .unreadable(let id, let why): ["kind": "unreadable", "id": .string(id), "why": .string(why)]
        }
    }
}

extension Recovered: Canonical {
    var canonical: JSON {
        switch self {
        case .payment(let entry): ["kind": "payment", "entry": entry.canonical]
        case .unreadable(let id, let why): ["kind": "unreadable", "id": .string(id), "why": .string(why)]
        }
    }
}

extension PaymentStatus: Canonical {
    var canonical: JSON {
        switch self {
        case .charged: "charged"
        case .rejected: "rejected"
        case .other(let word): ["kind": "other", "word": .string(word)]
        }
    }
}

extension StatusReport: Canonical {
    var canonical: JSON {
        [
            "status": status.canonical, "code": JSON(code), "reason": JSON(reason), "order_number": JSON(orderNumber),
            "amount": amount.canonical, "currency": JSON(currency), "raw": .string(raw),
        ]
    }
}

extension CardPaymentCreated: Canonical {
    var canonical: JSON {
        [
            "payment": payment.canonical, "next_step": nextStep.canonical, "code": JSON(code), "amount": amount.canonical,
            "currency": JSON(currency), "raw": .string(raw),
        ]
    }
}

extension NextStep: Canonical {
    var canonical: JSON {
        switch self {
        case .openConfirmation(let url): ["kind": "open_confirmation", "url": .string(url.absoluteString)]
        case .checkStatus(let status): ["kind": "check_status", "status": JSON(status)]
        }
    }
}

extension MbankPaymentCreated: Canonical {
    var canonical: JSON {
        [
            "payment": payment.canonical, "code": JSON(code), "reason": JSON(reason), "status": JSON(status),
            "raw": .string(raw),
        ]
    }
}

extension MbankConfirmed: Canonical {
    var canonical: JSON {
        [
            "payment": payment.canonical, "code": JSON(code), "reason": JSON(reason), "status": JSON(status),
            "raw": .string(raw),
        ]
    }
}

extension MegapayChecked: Canonical {
    var canonical: JSON {
        [
            "payment": payment.canonical, "commission": commission.canonical, "total": total.canonical,
            "pin_lifetime_ms": JSON(pinLifetime.map { Int($0 / .milliseconds(1)) }), "code": JSON(code), "reason": JSON(reason),
            "raw": .string(raw),
        ]
    }
}

extension MegapayAccepted: Canonical {
    var canonical: JSON {
        [
            "payment": payment.canonical, "transaction_id": JSON(transactionID), "code": JSON(code), "reason": JSON(reason),
            "status": JSON(status), "raw": .string(raw),
        ]
    }
}

extension PayFormCreated: Canonical {
    var canonical: JSON {
        ["payment": payment.canonical, "pay_form_url": .string(payFormURL.absoluteString), "raw": .string(raw)]
    }
}

extension QrImage: Canonical {
    var canonical: JSON {
        ["payment": payment.canonical, "png": ["$bytes": .string(png.base64EncodedString())], "raw": .string(raw)]
    }
}

extension QrData: Canonical {
    var canonical: JSON {
        [
            "payload": JSON(payload), "transaction_id": JSON(transactionID), "payment": payment.canonical, "raw": .string(raw),
        ]
    }
}

extension QrCode: Canonical {
    var canonical: JSON {
        let rows = modules().map { JSON.string(String($0.map { $0 ? "1" : "0" })) }
        return ["size": JSON(rows.count), "rows": .array(rows)]
    }
}

extension LocalDateTime: Canonical {
    var canonical: JSON {
        [
            "year": JSON(year), "month": JSON(month), "day": JSON(day), "hour": JSON(hour), "minute": JSON(minute),
            "second": JSON(second), "nanosecond": JSON(nanosecond), "text": .string(description),
        ]
    }
}

extension Callback: Canonical {
    var canonical: JSON {
        [
            "order_number": .string(orderNumber), "amount": amount.canonical, "currency": JSON(currency),
            "status": status.canonical, "date_created": dateCreated.canonical, "date_created_text": JSON(dateCreatedText),
            "requisite": JSON(requisite), "provider": provider.canonical, "missing": missing.canonical, "raw": .string(raw),
            "dedup_key": JSON(try? dedupKey()), "payment_ref": (try? paymentRef()).canonical,
        ]
    }
}

extension Verdict: Canonical {
    var canonical: JSON {
        var form: [String: JSON] =
            switch self {
            case .charged(_, _, let compared): ["kind": "charged", "compared": compared.canonical]
            case .rejected: ["kind": "rejected"]
            case .pending: ["kind": "pending"]
            case .mismatch(_, let fields, _): ["kind": "mismatch", "fields": fields.canonical]
            case .unverifiable(_, let why, _): ["kind": "unverifiable", "why": .string(why)]
            }
        form["payment"] = payment.canonical
        form["report"] = report.canonical
        form["is_charged"] = isCharged.canonical
        return .object(form)
    }
}

extension DialectReading: Canonical {
    var canonical: JSON {
        [
            "fields": fields.canonical, "code_means": JSON(codeMeans), "status_means": JSON(statusMeans), "unread": unread.canonical,
            "problem": JSON(problem),
        ]
    }
}

extension DialectField: Canonical {
    var canonical: JSON { ["name": .string(name), "pointer": .string(pointer), "value": .string(value)] }
}

extension Elqr: Canonical {
    var canonical: JSON {
        var form: [String: JSON] = [
            "link": .string(link), "kind": .string(kind.rawValue), "provider": .string(provider), "mcc": .string(mcc),
            "currency": .string(currency), "payee": .string(payee), "checksum_ok": .bool(checksumOK),
        ]
        form["service_code"] = JSON(serviceCode)
        form["recipient"] = JSON(recipient)
        form["transaction"] = JSON(transaction)
        form["amount_editable"] = amountEditable.canonical
        form["recipient_editable"] = recipientEditable.canonical
        form["merchant_id"] = JSON(merchantID)
        form["merchant_service"] = JSON(merchantService)
        form["comment"] = JSON(comment)
        form["fields"] = fields.canonical
        form["amount_tyiyn"] = JSON(amountTyiyn)
        form["other"] = other.canonical
        return .object(form)
    }
}

extension ElqrField: Canonical {
    var canonical: JSON { ["tag": .string(tag), "text": .string(text)] }
}

extension BankLink: Canonical {
    var canonical: JSON { ["bank": .string(bank), "url": .string(url.absoluteString)] }
}

extension ReturnRedirect: Canonical {
    var canonical: JSON { ["order_number": .string(orderNumber), "status_code": JSON(statusCode)] }
}

extension Violation: Canonical {
    var canonical: JSON {
        ["field": .string(field), "rule": .string(rule.rawValue), "limit": JSON(limit), "text": .string(text)]
    }
}

extension CheckoutTexts: Canonical {
    var canonical: JSON {
        [
            "title": .string(title), "explanation": JSON(explanation), "cost": JSON(cost), "message": JSON(message),
            "reason": JSON(reason),
        ]
    }
}

extension CheckoutLabels: Canonical {
    /// Each by its name.
    var canonical: JSON {
        let fields = Mirror(reflecting: self).children.map { (snakeCase($0.label ?? ""), JSON.string("\($0.value)")) }
        return .object(Dictionary(uniqueKeysWithValues: fields))
    }

    private func snakeCase(_ name: String) -> String {
        name.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
    }
}

extension FieldState: Canonical {
    var canonical: JSON {
        switch self {
        case .incomplete: "incomplete"
        case .complete: "complete"
        case .wrong(let violation): ["kind": "wrong", "violation": violation.canonical]
        }
    }
}

extension Advice: Canonical {
    var canonical: JSON { ["field": .string(field), "topic": .string(topic.rawValue), "text": .string(text)] }
}

extension WatchReport: Canonical {
    var canonical: JSON {
        switch self {
        case .status(let verdict): ["kind": "status", "verdict": verdict.canonical]
        case .queryFailed(let error): ["kind": "query_failed", "error": error.canonical]
        }
    }
}

extension PaymentError: Canonical {
    var canonical: JSON {
        var form = fields
        form["http_status"] = JSON(httpStatus)
        form["code"] = JSON(code)
        form["body"] = JSON(body)
        form["kind"] = .string(kind)
        form["text"] = .string(describe())
        form["payment_may_exist"] = .bool(paymentMayExist)
        form["is_retryable"] = .bool(isRetryable)
        return .object(form)
    }

    private var fields: [String: JSON] {
        switch self {
        case .invalid(let violations): ["violations": violations.canonical]
        case .misconfigured(let detail, _, _, _), .unauthorized(let detail, _, _, _), .unexpected(let detail, _, _, _):
            ["detail": .string(detail)]
        case .unavailable(let detail, let retryAfter, _, _, _):
            ["detail": .string(detail), "retry_after_ms": JSON(retryAfter.map { Int($0 / .milliseconds(1)) })]
        case .refused(_, _, let reason, _): ["reason": JSON(reason)]
        case .outcomeUnknown(let payment, _, _, let reason, let detail, _):
            ["payment": payment.canonical, "reason": JSON(reason), "detail": .string(detail)]
        case .deadlineExpired(let last): ["last": last.canonical]
        }
    }
}
