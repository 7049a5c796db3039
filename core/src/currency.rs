//! Currencies (ISO 4217): the decimals that each one has, its minor unit, and numeric codes.
//!
//! Source: ISO 4217, list one (active codes), as of 2026.

/// The active currencies, each by its letters with its number behind them.
const ACTIVE: &str = "\
    AED784 AFN971 ALL008 AMD051 AOA973 ARS032 AUD036 AWG533 AZN944 BAM977 BBD052 BDT050 BHD048 BIF108 BMD060 BND096 \
    BOB068 BOV984 BRL986 BSD044 BTN064 BWP072 BYN933 BZD084 CAD124 CDF976 CHE947 CHF756 CHW948 CLF990 CLP152 CNY156 \
    COP170 COU970 CRC188 CUP192 CVE132 CZK203 DJF262 DKK208 DOP214 DZD012 EGP818 ERN232 ETB230 EUR978 FJD242 FKP238 \
    GBP826 GEL981 GHS936 GIP292 GMD270 GNF324 GTQ320 GYD328 HKD344 HNL340 HTG332 HUF348 IDR360 ILS376 INR356 IQD368 \
    IRR364 ISK352 JMD388 JOD400 JPY392 KES404 KGS417 KHR116 KMF174 KPW408 KRW410 KWD414 KYD136 KZT398 LAK418 LBP422 \
    LKR144 LRD430 LSL426 LYD434 MAD504 MDL498 MGA969 MKD807 MMK104 MNT496 MOP446 MRU929 MUR480 MVR462 MWK454 MXN484 \
    MXV979 MYR458 MZN943 NAD516 NGN566 NIO558 NOK578 NPR524 NZD554 OMR512 PAB590 PEN604 PGK598 PHP608 PKR586 PLN985 \
    PYG600 QAR634 RON946 RSD941 RUB643 RWF646 SAR682 SBD090 SCR690 SDG938 SEK752 SGD702 SHP654 SLE925 SOS706 SRD968 \
    SSP728 STN930 SVC222 SYP760 SZL748 THB764 TJS972 TMT934 TND788 TOP776 TRY949 TTD780 TWD901 TZS834 UAH980 UGX800 \
    USD840 USN997 UYI940 UYU858 UYW927 UZS860 VED926 VES928 VND704 VUV548 WST882 XAD396 XAF950 XAG961 XAU959 XBA955 \
    XBB956 XBC957 XBD958 XCD951 XCG532 XDR960 XOF952 XPD964 XPF953 XPT962 XSU994 XTS963 XUA965 XXX999 YER886 ZAR710 \
    ZMW967 ZWG924";

/// The currency of every payment except card payments, which name their own (`docs/interface.md#limits`).
pub(crate) const KGS: &str = "KGS";

/// The decimals of the som.
pub(crate) const KGS_DECIMALS: u32 = 2;

/// How many decimals an amount in a currency can have (its minor unit), by its letters in either case; `None` for a
/// text that does not have three letters. An unknown currency counts as having two, as nearly all have.
pub(crate) fn decimals(currency: &str) -> Option<u32> {
    let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| match currency.to_ascii_uppercase().as_str() {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI" | "VND"
        | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    })
}

/// True if two texts name the same currency: by its letters in either case, or by its number (`417` is `KGS`).
pub(crate) fn same_currency(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
        || letters_of(a).is_some_and(|letters| letters.eq_ignore_ascii_case(b))
        || letters_of(b).is_some_and(|letters| letters.eq_ignore_ascii_case(a))
}

/// The letters of a numeric code. Its leading zeros count: `8` is not a code.
fn letters_of(number: &str) -> Option<&'static str> {
    let is_number = number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    let known = is_number.then(|| ACTIVE.split(' ').find(|code| code.ends_with(number)))?;
    known.map(|code| &code[..3])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn currency_has_its_own_number_of_decimals() {
        for (currency, expected) in
            [("KGS", 2), ("usd", 2), ("JPY", 0), ("krw", 0), ("KWD", 3), ("UYI", 0), ("UYW", 4), ("ZZZ", 2)]
        {
            assert_eq!(decimals(currency), Some(expected), "{currency}");
        }
        for text in ["", "KG", "KGSS", "417", "сом", "cу"] {
            assert_eq!(decimals(text), None, "{text}");
        }
        assert_eq!(decimals("KGS"), Some(KGS_DECIMALS));
    }

    #[test]
    fn letters_and_number_name_one_currency() {
        for (a, b) in [("KGS", "KGS"), ("KGS", "kgs"), ("417", "KGS"), ("kgs", "417"), ("417", "417"), ("008", "all")] {
            assert!(same_currency(a, b), "{a} and {b}");
        }
        for (a, b) in
            [("KGS", "USD"), ("417", "USD"), ("417", "840"), ("8", "ALL"), ("KGS", ""), ("000", ""), ("", "A")]
        {
            assert!(!same_currency(a, b), "{a} and {b}");
        }
        // An unknown currency is compared unchanged.
        assert!(same_currency("сом", "сом"));
        assert!(!same_currency("975", "сом"));
    }

    /// A slip of the pen in the table would make two currencies one.
    #[test]
    fn active_currencies_have_unique_codes() {
        let mut seen = HashSet::new();
        for code in ACTIVE.split(' ') {
            let (letters, number) = code.split_at(3);
            assert!(letters.bytes().all(|byte| byte.is_ascii_uppercase()), "{code}");
            assert!(number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
            assert!(seen.insert(letters) && seen.insert(number), "{code} is there twice");
        }
    }
}
