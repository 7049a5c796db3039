"""The table of orders."""

from django.db import migrations, models

import django_shop.models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "reference",
                    models.CharField(
                        default=django_shop.models.new_reference, max_length=32, primary_key=True, serialize=False
                    ),
                ),
                ("state", models.CharField(default="new", max_length=16)),
            ],
        ),
    ]
